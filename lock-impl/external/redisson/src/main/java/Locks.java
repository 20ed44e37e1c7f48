import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** The locks of Redisson that the adapter knows, by variant. */
final class Locks {
  /** Something that is held, and how to give it back. */
  record Hold(String key, RLock lock) {}

  /** What was granted: the lock, and its token where it has one. */
  record Granted(RLock lock, Long token) {}

  @FunctionalInterface
  interface Taking {
    /** Null: refused. `read` asks for the shared mode. */
    Granted take(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs)
        throws InterruptedException;
  }

  /** A lock, and what its handshake says of it. */
  record Variant(Taking taking, List<String> topologies, List<String> features, Map<String, Object> model) {}

  private static final List<String> ONE_SERVER = List.of("single", "replica", "sentinel", "cluster");

  static final Map<String, Variant> ALL =
      Map.of(
          "rlock", mutex((clients, key) -> clients.get(0).getLock(key), ONE_SERVER),
          "rlock-no-sync", mutex((clients, key) -> clients.get(0).getLock(key), ONE_SERVER),
          "spin", mutex((clients, key) -> clients.get(0).getSpinLock(key), ONE_SERVER),
          "redlock", mutex(Locks::redLock, List.of("redlock")),
          "fair", mutex((clients, key) -> clients.get(0).getFairLock(key), ONE_SERVER),
          "fenced", new Variant(Locks::fenced, ONE_SERVER, List.of("fencing", "clock"), Map.of("kind", "fenced")),
          "read-write",
              new Variant(Locks::readWrite, ONE_SERVER, List.of("shared", "clock"), Map.of("kind", "read-write")));

  private interface Getting {
    RLock get(List<RedissonClient> clients, String key);
  }

  private static Variant mutex(Getting getting, List<String> topologies) {
    return new Variant(of(getting), topologies, List.of("clock"), Map.of("kind", "mutex"));
  }

  private static Taking of(Getting getting) {
    return (clients, key, read, waitMs, leaseMs) -> taken(getting.get(clients, key), waitMs, leaseMs);
  }

  private static Granted taken(RLock lock, long waitMs, long leaseMs) throws InterruptedException {
    return lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS) ? new Granted(lock, null) : null;
  }

  private static Granted fenced(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs) {
    RFencedLock lock = clients.get(0).getFencedLock(key);
    Long token = lock.tryLockAndGetToken(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    return token == null ? null : new Granted(lock, token);
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

  private Locks() {}
}
