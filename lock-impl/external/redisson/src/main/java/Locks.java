import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** The locks of Redisson that the adapter knows, by variant. */
final class Locks {
  /** What was granted: how it is given back, and its token where it has one. */
  record Granted(Returning returning, Long token) {}

  /** Returns false, or throws an IllegalMonitorStateException, where it was not ours any more. */
  @FunctionalInterface
  interface Returning {
    boolean giveBack();
  }

  @FunctionalInterface
  interface Taking {
    /** Null: refused. `read` asks for the shared mode. */
    Granted take(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs)
        throws InterruptedException;
  }

  /** A lock, and what its handshake says of it. `several`: it is made of several locks. */
  record Variant(
      Taking taking,
      List<String> topologies,
      List<String> features,
      Map<String, Object> model,
      Map<String, Object> deadlines,
      boolean several) {
    Variant(Taking taking, List<String> topologies, List<String> features, Map<String, Object> model) {
      this(taking, topologies, features, model, Map.of(), false);
    }
  }

  private static final List<String> ONE_SERVER = List.of("single", "replica", "sentinel", "cluster");

  /** What a multi lock is made of, as ends of the key's name. */
  private static final List<String> MULTI = List.of("", ":b", ":c");

  private static final int PERMITS = 2;
  private static final Map<String, Object> SEMAPHORE = Map.of("kind", "semaphore", "permits", PERMITS);

  static final Map<String, Variant> ALL =
      Map.ofEntries(
          Map.entry("rlock", mutex((clients, key) -> clients.get(0).getLock(key), ONE_SERVER)),
          Map.entry("rlock-no-sync", mutex((clients, key) -> clients.get(0).getLock(key), ONE_SERVER)),
          Map.entry("watchdog", new Variant(Locks::watchdog, ONE_SERVER, List.of("renews", "callers", "cancel", "clock"), Map.of("kind", "mutex"))),
          Map.entry("spin", mutex((clients, key) -> clients.get(0).getSpinLock(key), ONE_SERVER)),
          Map.entry(
              "redlock",
              new Variant(
                  of(Locks::redLock), List.of("redlock"), List.of("callers", "cancel", "clock"), Map.of("kind", "mutex"), Map.of(), true)),
          Map.entry(
              "multi",
              new Variant(of(Locks::multi), ONE_SERVER, List.of("callers", "cancel", "clock"), Map.of("kind", "mutex"), Map.of(), true)),
          Map.entry("fair", mutex((clients, key) -> clients.get(0).getFairLock(key), ONE_SERVER)),
          Map.entry(
              "fenced", new Variant(Locks::fenced, ONE_SERVER, List.of("fencing", "callers", "cancel", "clock"), Map.of("kind", "fenced"))),
          Map.entry(
              "read-write",
              new Variant(Locks::readWrite, ONE_SERVER, List.of("shared", "callers", "cancel", "clock"), Map.of("kind", "read-write"))),
          Map.entry(
              "semaphore",
              new Variant(Locks::semaphore, ONE_SERVER, List.of("callers", "cancel", "clock"), SEMAPHORE, Map.of("permit", "never"), false)),
          Map.entry(
              "permit-expirable",
              new Variant(Locks::permitExpirable, ONE_SERVER, List.of("callers", "cancel", "clock"), SEMAPHORE, Map.of("permit", "lease"), false)));

  private interface Getting {
    RLock get(List<RedissonClient> clients, String key);
  }

  private static Variant mutex(Getting getting, List<String> topologies) {
    return new Variant(of(getting), topologies, List.of("callers", "cancel", "clock"), Map.of("kind", "mutex"));
  }

  private static Taking of(Getting getting) {
    return (clients, key, read, waitMs, leaseMs) -> taken(getting.get(clients, key), waitMs, leaseMs);
  }

  private static Granted taken(RLock lock, long waitMs, long leaseMs) throws InterruptedException {
    return lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS) ? new Granted(() -> unlocked(lock), null) : null;
  }

  private static boolean unlocked(RLock lock) {
    lock.unlock();
    return true;
  }

  /** Without a lease: Redisson renews it, for as long as the process lives. */
  private static Granted watchdog(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs)
      throws InterruptedException {
    RLock lock = clients.get(0).getLock(key);
    return lock.tryLock(waitMs, TimeUnit.MILLISECONDS) ? new Granted(() -> unlocked(lock), null) : null;
  }

  private static Granted fenced(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs) {
    RFencedLock lock = clients.get(0).getFencedLock(key);
    Long token = lock.tryLockAndGetToken(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    return token == null ? null : new Granted(() -> unlocked(lock), token);
  }

  private static Granted readWrite(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs)
      throws InterruptedException {
    RReadWriteLock lock = clients.get(0).getReadWriteLock(key);
    return taken(read ? lock.readLock() : lock.writeLock(), waitMs, leaseMs);
  }

  @SuppressWarnings("deprecation") // what many still run
  private static RLock redLock(List<RedissonClient> clients, String key) {
    RLock[] parts = clients.stream().map(client -> client.getLock(key)).toArray(RLock[]::new);
    return clients.get(0).getRedLock(parts);
  }

  private static RLock multi(List<RedissonClient> clients, String key) {
    RLock[] parts = MULTI.stream().map(end -> clients.get(0).getLock(key + end)).toArray(RLock[]::new);
    return clients.get(0).getMultiLock(parts);
  }

  private static Granted semaphore(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs)
      throws InterruptedException {
    RSemaphore semaphore = clients.get(0).getSemaphore(key);
    if (SET_UP.add(key)) semaphore.trySetPermits(PERMITS);
    if (!semaphore.tryAcquire(waitMs, TimeUnit.MILLISECONDS)) return null;
    return new Granted(
        () -> {
          semaphore.release();
          return true;
        },
        null);
  }

  private static Granted permitExpirable(
      List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs) throws InterruptedException {
    RPermitExpirableSemaphore semaphore = clients.get(0).getPermitExpirableSemaphore(key);
    if (SET_UP.add(key)) semaphore.trySetPermits(PERMITS);
    String permit = semaphore.tryAcquire(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    return permit == null ? null : new Granted(() -> semaphore.tryRelease(permit), null);
  }

  /** Keys whose permits this process has made sure of: as an application does, once, when it starts. */
  private static final Set<String> SET_UP = ConcurrentHashMap.newKeySet();

  private Locks() {}
}
