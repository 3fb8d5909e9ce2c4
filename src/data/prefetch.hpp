// Items made ahead of their use by worker threads, handed out in order. An item is made of parts, so that all workers help with the next
// item instead of each holding one of its own: memory is `ahead` + 1 items, whatever the number of workers.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace erg {

template <class Item>
class Prefetch {
 public:
  // Makes part `part` of item number `index` in place; called by worker number `worker`, several parts at once. The item still holds what
  // an older one left there: buffers are used again, so that in the steady state nothing is allocated.
  using Make = std::function<void(Item& item, int64_t index, int64_t part, int worker)>;

  Prefetch(Make make, const Item& initial, int64_t parts, int workers, int ahead)
      : make_(std::move(make)), parts_(parts), slots_(size_t(ahead) + 1, Slot{initial, 0, parts, nullptr}) {
    for (int w = 0; w < workers; ++w) workers_.emplace_back([this, w] { work(w); });
  }

  ~Prefetch() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    room_.notify_all();
  }

  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // The next item, valid until the next call. Waits until it is ready; throws what making it threw (of several failed parts, the first
  // one's), and then goes on with the item after it.
  const Item& next() {
    std::unique_lock lock(mutex_);
    if (taken_ > 0) {  // the consumer is done with the item before
      Slot& old = slot(taken_ - 1);
      old.parts_done = 0;
      old.failed_part = parts_;
      old.error = nullptr;
      released_ = taken_;
      room_.notify_all();
    }
    Slot& wanted = slot(taken_++);
    ready_.wait(lock, [&] { return wanted.parts_done == parts_; });
    if (wanted.error) std::rethrow_exception(wanted.error);
    return wanted.item;
  }

 private:
  struct Slot {
    Item item;
    int64_t parts_done;
    int64_t failed_part;  // parts_: none
    std::exception_ptr error;
  };

  Slot& slot(int64_t index) { return slots_[size_t(index) % slots_.size()]; }

  void work(int worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      room_.wait(lock, [&] { return stop_ || claimed_ / parts_ < released_ + int64_t(slots_.size()); });
      if (stop_) return;
      const int64_t index = claimed_ / parts_, part = claimed_ % parts_;
      ++claimed_;
      Slot& mine = slot(index);
      lock.unlock();
      std::exception_ptr error;
      try {
        make_(mine.item, index, part, worker);
      } catch (...) { error = std::current_exception(); }
      lock.lock();
      if (error && part < mine.failed_part) {
        mine.failed_part = part;
        mine.error = error;
      }
      if (++mine.parts_done == parts_) ready_.notify_one();
    }
  }

  Make make_;
  int64_t parts_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  bool stop_ = false;
  int64_t claimed_ = 0;   // parts given to workers, counted over all items
  int64_t taken_ = 0;     // items handed to the consumer
  int64_t released_ = 0;  // of them, those it is done with
  std::vector<Slot> slots_;
  std::vector<std::jthread> workers_;  // last: joined before anything else goes away
};

}  // namespace erg
