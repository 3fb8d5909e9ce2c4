// SQLite in three small classes: a database, a prepared statement, a transaction.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace erg {

class SqliteError : public Error {
 public:
  SqliteError(int code, const std::string& message, const std::string& where = {});
  bool damaged() const;  // not a database, or a broken one: making it anew helps

 private:
  int code_;
};

class Database {
 public:
  explicit Database(const std::string& path);  // ":memory:" for one that is never written
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  void execute(const char* sql);
  sqlite3* handle() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

class Statement {
 public:
  Statement(Database& db, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int index, const std::string& text);  // indices from 1
  Statement& bind(int index, int64_t value);
  Statement& bind(int index, std::optional<double> value);  // nullopt: NULL
  bool step();                                              // true: a row is there
  void run() {
    while (step()) {}
    reset();
  }
  void reset();

  std::string text(int column) const;  // columns from 0
  int64_t integer(int column) const;

 private:
  Database& db_;
  sqlite3_stmt* statement_ = nullptr;
};

// Rolled back unless commit() was called.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) { db_.execute("BEGIN IMMEDIATE"); }
  ~Transaction();
  void commit() {
    db_.execute("COMMIT");
    done_ = true;
  }

 private:
  Database& db_;
  bool done_ = false;
};

}  // namespace erg
