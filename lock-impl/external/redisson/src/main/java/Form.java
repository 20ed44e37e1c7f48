import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;

/** A way to call `RLock`, typed as its call is written, with a hyphen for each parenthesis, comma and space. */
enum Form {
  TRY_LOCK_WAIT_LEASE("tryLock-wait-lease", true, true, false) {
    @Override
    boolean call(RLock lock, long waitMs, long leaseMs) throws InterruptedException {
      return lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    }
  },
  TRY_LOCK_WAIT("tryLock-wait", true, false, false) {
    @Override
    boolean call(RLock lock, long waitMs, long leaseMs) throws InterruptedException {
      return lock.tryLock(waitMs, TimeUnit.MILLISECONDS);
    }
  },
  TRY_LOCK("tryLock", false, false, false) {
    @Override
    boolean call(RLock lock, long waitMs, long leaseMs) {
      return lock.tryLock();
    }
  },
  LOCK("lock", false, false, true) {
    @Override
    boolean call(RLock lock, long waitMs, long leaseMs) {
      lock.lock();
      return true;
    }
  },
  LOCK_LEASE("lock-lease", false, true, true) {
    @Override
    boolean call(RLock lock, long waitMs, long leaseMs) {
      lock.lock(leaseMs, TimeUnit.MILLISECONDS);
      return true;
    }
  };

  static final List<Form> ALL = List.of(values());

  final String typed;
  /** It is told how long to wait. */
  final boolean hasWait;
  /** It is told for how long; else Redisson renews, for as long as the process lives. */
  final boolean hasLease;
  /** It never says no. */
  final boolean waitsWithoutEnd;

  Form(String typed, boolean hasWait, boolean hasLease, boolean waitsWithoutEnd) {
    this.typed = typed;
    this.hasWait = hasWait;
    this.hasLease = hasLease;
    this.waitsWithoutEnd = waitsWithoutEnd;
  }

  /** False: refused. */
  abstract boolean call(RLock lock, long waitMs, long leaseMs) throws InterruptedException;

  /** The same call of `RFencedLock`, by the name that it has there: `tryLockAndGetToken` of `tryLock`. Null: refused. */
  Long callForToken(RLock fenced, long waitMs, long leaseMs) throws InterruptedException {
    return Versions.token(fenced, typed.split("-")[0] + "AndGetToken", hasWait ? waitMs : null, hasLease ? leaseMs : null);
  }

  static Form typed(String text) {
    return ALL.stream().filter(form -> form.typed.equals(text)).findFirst().orElseThrow();
  }
}
