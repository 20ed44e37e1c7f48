import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/** The locks of Redisson that the adapter knows, by variant. */
final class Locks implements Library {
  @FunctionalInterface
  private interface Taking {
    Granted take(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs)
        throws InterruptedException;
  }

  /** A lock, and what its handshake says of it. */
  private record Variant(
      Taking taking, List<String> topologies, List<String> features, boolean several, Map<String, Object> says) {
    Variant(Taking taking, List<String> features, Map<String, Object> says) {
      this(taking, ONE_SERVER, features, false, says);
    }
  }

  private static final List<String> ONE_SERVER = List.of("single", "replica", "sentinel", "cluster");
  private static final List<String> FEATURES = List.of("callers", "cancel", "clock");
  private static final Map<String, Object> MUTEX = Map.of("model", Map.of("kind", "mutex"));

  /** What a multi lock is made of, as ends of the key's name. */
  private static final List<String> MULTI = List.of("", ":b", ":c");

  private static final int PERMITS = 2;

  private static final Map<String, Variant> ALL =
      Map.ofEntries(
          Map.entry("rlock", mutex((clients, key) -> clients.get(0).getLock(key))),
          Map.entry("rlock-no-sync", mutex((clients, key) -> clients.get(0).getLock(key))),
          Map.entry("watchdog", new Variant(Locks::watchdog, with("renews"), MUTEX)),
          Map.entry("spin", mutex((clients, key) -> clients.get(0).getSpinLock(key))),
          Map.entry("redlock", new Variant(of(Locks::redLock), List.of("redlock"), FEATURES, true, MUTEX)),
          Map.entry("multi", new Variant(of(Locks::multi), ONE_SERVER, FEATURES, true, MUTEX)),
          Map.entry("fair", mutex((clients, key) -> clients.get(0).getFairLock(key))),
          Map.entry("fenced", new Variant(Locks::fenced, with("fencing"), Map.of("model", Map.of("kind", "fenced")))),
          Map.entry("read-write", new Variant(Locks::readWrite, with("shared"), Map.of("model", Map.of("kind", "read-write")))),
          Map.entry("semaphore", new Variant(Locks::semaphore, FEATURES, permits("never"))),
          Map.entry("permit-expirable", new Variant(Locks::permitExpirable, FEATURES, permits("lease"))));

  static final Set<String> NAMES = ALL.keySet();
  /** Which have the most of what a client loads. */
  static final List<String> WARM_UP = List.of("rlock", "read-write", "fenced", "permit-expirable");
  /** What a script answers that has taken a lock. */
  static final String TAKEN = "$-1\r\n";

  private final String name;
  private final Variant variant;
  private final List<RedissonClient> clients = new ArrayList<>();
  private Times times;
  private Wire wire;

  private Locks(String name) {
    this.name = name;
    this.variant = ALL.get(name);
  }

  static Library named(String name) {
    return new Locks(name);
  }

  private static List<String> with(String feature) {
    var features = new ArrayList<>(List.of(feature));
    features.addAll(FEATURES);
    return features;
  }

  private static Map<String, Object> permits(String until) {
    return Map.of("model", Map.of("kind", "semaphore", "permits", PERMITS), "deadlines", Map.of("permit", until));
  }

  @Override
  public Claims claims() {
    return new Claims("redisson/" + name, variant.topologies(), variant.features(), variant.several(), variant.says());
  }

  @Override
  public Granted take(String key, boolean read, long waitMs, long leaseMs) throws InterruptedException {
    Granted granted = variant.taking().take(clients, key, read, waitMs, leaseMs);
    if (granted == null || variant.says().containsKey("deadlines")) return granted; // refused, or a permit
    var newest = new Newest(key + (read ? " read " : " write ") + Thread.currentThread().getId(), granted.holding());
    held.put(newest.what(), newest);
    return new Granted(newest, granted.token());
  }

  /** By key, mode and thread, the last grant. */
  private final Map<String, Newest> held = new ConcurrentHashMap<>();

  /**
   * An unlock names no grant: it gives back what the thread has now. Who was granted a lock again, after the lease of an earlier
   * grant had ended, has nothing of that left to give back, and an application would unlock the new one by it.
   */
  private final class Newest implements Holding {
    private final String what;
    private final Holding holding;

    Newest(String what, Holding holding) {
      this.what = what;
      this.holding = holding;
    }

    String what() {
      return what;
    }

    @Override
    public boolean giveBack() throws Exception {
      return held.get(what) == this && holding.giveBack();
    }
  }

  @Override
  public void close() {
    for (RedissonClient one : clients) one.shutdown();
    clients.clear();
  }

  /** Clients with Redisson's own settings (resends among them) but for the time that a command may take. */
  @Override
  public void connect(JsonObject topology, Times times, Wire wire) throws Refused {
    this.times = times;
    this.wire = wire;
    switch (topology.get("kind").getAsString()) {
      case "single", "replica" -> clients.add(single(topology, topology.getAsJsonObject("node")));
      case "redlock" -> {
        for (JsonElement node : topology.getAsJsonArray("nodes")) {
          try {
            clients.add(single(topology, node.getAsJsonObject()));
          } catch (RedisException error) {
            throw new Refused("unreachable: " + error.getMessage());
          }
        }
      }
      case "sentinel" -> {
        Config config = config(topology);
        var servers = config.useSentinelServers().setMasterName(topology.get("masterName").getAsString());
        for (JsonElement sentinel : topology.getAsJsonArray("sentinels"))
          servers.addSentinelAddress(address(sentinel.getAsJsonObject()));
        if (topology.has("password")) servers.setSentinelPassword(topology.get("password").getAsString());
        clients.add(Redisson.create(timed(config, servers)));
      }
      default -> {
        Config config = config(topology);
        var servers = config.useClusterServers();
        for (JsonElement node : topology.getAsJsonArray("nodes")) servers.addNodeAddress(address(node.getAsJsonObject()));
        clients.add(Redisson.create(timed(config, servers)));
      }
    }
  }

  @Override
  public long triesOnMs() {
    int again = new Config().useSingleServer().getRetryAttempts();
    return clients.size() * ((again + 1) * times.commandMs() + again * LONGEST_PAUSE_MS);
  }

  /** Redisson draws its pauses between 1 and 2 s. */
  private static final long LONGEST_PAUSE_MS = 2_000;

  private RedissonClient single(JsonObject topology, JsonObject node) {
    Config config = config(topology);
    var server = config.useSingleServer().setAddress(address(node)).setConnectionMinimumIdleSize(2);
    return Redisson.create(timed(config, server));
  }

  private Config config(JsonObject topology) {
    Config config =
        new Config().setNettyHook(new Channels(wire)).setNettyThreads(4).setThreads(4).setLockWatchdogTimeout(times.leaseMs());
    if (name.equals("rlock-no-sync")) config.setCheckLockSyncedSlaves(false);
    if (topology.has("password")) config.setPassword(topology.get("password").getAsString());
    return config;
  }

  private Config timed(Config config, BaseConfig<?> servers) {
    servers.setTimeout(times.commandMs()).setConnectTimeout(times.commandMs());
    return config;
  }

  private static String address(JsonObject endpoint) {
    return "redis://" + endpoint.get("host").getAsString() + ":" + endpoint.get("port").getAsInt();
  }

  private interface Getting {
    RLock get(List<RedissonClient> clients, String key);
  }

  private static Variant mutex(Getting getting) {
    return new Variant(of(getting), FEATURES, MUTEX);
  }

  private static Taking of(Getting getting) {
    return (clients, key, read, waitMs, leaseMs) -> taken(getting.get(clients, key), waitMs, leaseMs);
  }

  private static Granted taken(RLock lock, long waitMs, long leaseMs) throws InterruptedException {
    return lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS) ? granted(lock, null) : null;
  }

  private static Granted granted(RLock lock, Long token) {
    return new Granted(
        () -> {
          try {
            lock.unlock();
            return true;
          } catch (IllegalMonitorStateException notOurs) {
            return false;
          }
        },
        token);
  }

  /** Without a lease: Redisson renews it, for as long as the process lives. */
  private static Granted watchdog(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs)
      throws InterruptedException {
    RLock lock = clients.get(0).getLock(key);
    return lock.tryLock(waitMs, TimeUnit.MILLISECONDS) ? granted(lock, null) : null;
  }

  private static Granted fenced(List<RedissonClient> clients, String key, boolean read, long waitMs, long leaseMs) {
    RFencedLock lock = clients.get(0).getFencedLock(key);
    Long token = lock.tryLockAndGetToken(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    return token == null ? null : granted(lock, token);
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
}
