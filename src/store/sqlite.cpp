// The calls behind sqlite.hpp: the only file that includes SQLite's header.
#include "store/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace erg {
namespace {

constexpr int patience_ms = 10'000;  // another ergometer may be bringing the index up to date

void check(int code, sqlite3* db) {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
    throw SqliteError(code, db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}

}  // namespace

SqliteError::SqliteError(int code, const std::string& message, const std::string& where)
    : Error(ErrorKind::failed, fmt::format("SQLite: {}", message), where), code_(code & 0xff) {}

bool SqliteError::damaged() const { return code_ == SQLITE_NOTADB || code_ == SQLITE_CORRUPT || code_ == SQLITE_SCHEMA; }

Database::Database(const std::string& path) {
  const int code = sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  if (code != SQLITE_OK) {
    const std::string why = db_ ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
    sqlite3_close(db_);
    throw SqliteError(code, why, path);
  }
  sqlite3_busy_timeout(db_, patience_ms);
}

Database::~Database() { sqlite3_close(db_); }

void Database::execute(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), db_); }

Statement::Statement(Database& db, const char* sql) : db_(db) {
  check(sqlite3_prepare_v2(db.handle(), sql, -1, &statement_, nullptr), db.handle());
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int index, const std::string& text) {
  check(sqlite3_bind_text(statement_, index, text.data(), int(text.size()), SQLITE_TRANSIENT), db_.handle());
  return *this;
}

Statement& Statement::bind(int index, int64_t value) {
  check(sqlite3_bind_int64(statement_, index, value), db_.handle());
  return *this;
}

Statement& Statement::bind(int index, std::optional<double> value) {
  check(value ? sqlite3_bind_double(statement_, index, *value) : sqlite3_bind_null(statement_, index), db_.handle());
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  check(code, db_.handle());
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

std::string Statement::text(int column) const {
  const auto* start = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return start ? std::string(start, size_t(sqlite3_column_bytes(statement_, column))) : std::string();
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

Transaction::~Transaction() {
  if (done_) return;
  try {
    db_.execute("ROLLBACK");
  } catch (const Error&) {
    // SQLite has already rolled back, for example because the disk is full
  }
}

}  // namespace erg
