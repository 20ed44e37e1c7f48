import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.DistributedLock;

/** The locks of Spring Integration and of ShedLock, over Spring Data Redis and Lettuce. */
final class Locks implements Library {
  @FunctionalInterface
  private interface Taking {
    Granted take(String key, long waitMs, long leaseMs) throws Exception;
  }

  private record Variant(Making making, List<String> features, Map<String, Object> says) {}

  private interface Making {
    Taking of(LettuceConnectionFactory connections, Times times);
  }

  private static final List<String> ONE_SERVER = List.of("single", "replica", "sentinel", "cluster");
  /** Of a registry the first part of its keys' names. */
  private static final String REGISTRY = "registry";

  private static final Map<String, Variant> ALL =
      Map.of(
          "lock-registry", registry(RedisLockType.SPIN_LOCK),
          "lock-registry-pub-sub", registry(RedisLockType.PUB_SUB_LOCK),
          "shedlock", shedLock(false),
          "shedlock-safe-update", shedLock(true));

  static final Set<String> NAMES = ALL.keySet();
  /** Which have the most of what a client loads. */
  static final List<String> WARM_UP = List.of("lock-registry", "shedlock");
  /** What a script answers that has taken a lock. */
  static final String TAKEN = ":1\r\n";

  private final String name;
  private final Variant variant;
  private LettuceConnectionFactory connections;
  private ClientResources resources;
  private Taking taking;

  private Locks(String name) {
    this.name = name;
    this.variant = ALL.get(name);
  }

  static Library named(String name) {
    return new Locks(name);
  }

  @Override
  public Claims claims() {
    return new Claims("spring/" + name, ONE_SERVER, variant.features(), false, variant.says());
  }

  /** With the settings that Spring Data and Lettuce have by themselves, but for the time that a command may take. */
  @Override
  public void connect(JsonObject topology, Times times, Wire wire) {
    Duration within = Duration.ofMillis(times.commandMs());
    resources = ClientResources.builder().nettyCustomizer(new Commands(wire)).build();
    boolean isCluster = topology.get("kind").getAsString().equals("cluster");
    ClientOptions.Builder options = isCluster ? ClusterClientOptions.builder() : ClientOptions.builder();
    options.socketOptions(SocketOptions.builder().connectTimeout(within).build()).timeoutOptions(TimeoutOptions.enabled());
    var how =
        LettuceClientConfiguration.builder().clientResources(resources).clientOptions(options.build()).commandTimeout(within);
    connections = new LettuceConnectionFactory(where(topology), how.build());
    connections.afterPropertiesSet();
    connections.start();
    connections.getConnection().close(); // fails in the handshake rather than in the first operation
    taking = variant.making().of(connections, times);
  }

  private static RedisConfiguration where(JsonObject topology) {
    String password = topology.has("password") ? topology.get("password").getAsString() : "";
    switch (topology.get("kind").getAsString()) {
      case "sentinel" -> {
        var servers = new RedisSentinelConfiguration().master(topology.get("masterName").getAsString());
        for (JsonElement one : topology.getAsJsonArray("sentinels")) servers.addSentinel(node(one.getAsJsonObject()));
        servers.setPassword(password);
        servers.setSentinelPassword(password);
        return servers;
      }
      case "cluster" -> {
        var servers = new RedisClusterConfiguration();
        for (JsonElement one : topology.getAsJsonArray("nodes")) servers.addClusterNode(node(one.getAsJsonObject()));
        servers.setPassword(password);
        return servers;
      }
      default -> {
        RedisNode node = node(topology.getAsJsonObject("node"));
        var server = new RedisStandaloneConfiguration(node.getRequiredHost(), node.getRequiredPort());
        server.setPassword(password);
        return server;
      }
    }
  }

  private static RedisNode node(JsonObject endpoint) {
    return new RedisNode(endpoint.get("host").getAsString(), endpoint.get("port").getAsInt());
  }

  @Override
  public long triesOnMs() {
    return 0;
  }

  @Override
  public Granted take(String key, boolean read, long waitMs, long leaseMs) throws Exception {
    return taking.take(key, waitMs, leaseMs);
  }

  @Override
  public void close() {
    if (connections == null) return;
    connections.destroy();
    resources.shutdown(0, 0, java.util.concurrent.TimeUnit.SECONDS);
  }

  /** One registry for a process, as an application has it: its owner is the process, and threads exclude each other inside. */
  private static Variant registry(RedisLockType type) {
    Making making =
        (connections, times) -> {
          var registry = new RedisLockRegistry(connections, REGISTRY, Duration.ofMillis(times.leaseMs()));
          registry.setRedisLockType(type);
          return (key, waitMs, leaseMs) -> {
            DistributedLock lock = registry.obtain(key);
            boolean taken = lock.tryLock(Duration.ofMillis(waitMs), Duration.ofMillis(leaseMs));
            return taken ? new Granted(new OfRegistry(registry, key, lock), null) : null;
          };
        };
    return new Variant(making, List.of("extend", "callers", "cancel", "clock"), names(REGISTRY + ":{key}"));
  }

  private static Map<String, Object> names(String name) {
    return Map.of("model", Map.of("kind", "mutex"), "keys", List.of(name));
  }

  private record OfRegistry(RedisLockRegistry registry, String key, DistributedLock lock) implements Holding {
    @Override
    public boolean giveBack() {
      try {
        lock.unlock();
        return true;
      } catch (ConcurrentModificationException notOurs) {
        return false;
      }
    }

    @Override
    public boolean prolong(long leaseMs) {
      try {
        registry.renewLock(key, Duration.ofMillis(leaseMs));
        return true;
      } catch (IllegalStateException notOurs) {
        return false;
      }
    }
  }

  /** What a scheduled job takes, by one try: it knows no wait. */
  private static Variant shedLock(boolean safeUpdate) {
    Making making =
        (connections, times) -> {
          ExtensibleLockProvider provider = new RedisLockProvider.Builder(connections).safeUpdate(safeUpdate).build();
          return (key, waitMs, leaseMs) -> {
            var asked = new LockConfiguration(ClockProvider.now(), key, Duration.ofMillis(leaseMs), Duration.ZERO);
            return provider.lock(asked).map(lock -> new Granted(new OfShedLock(lock), null)).orElse(null);
          };
        };
    return new Variant(making, List.of("extend", "callers", "no-wait", "clock"), names("job-lock:default:{key}"));
  }

  private static final class OfShedLock implements Holding {
    private SimpleLock lock;

    OfShedLock(SimpleLock lock) {
      this.lock = lock;
    }

    /** It does not say whether it removed anything. */
    @Override
    public boolean giveBack() {
      try {
        lock.unlock();
        return true;
      } catch (IllegalStateException notValid) { // an extension failed; nothing is sent
        return false;
      }
    }

    /** An extension makes a lock anew, and one that fails leaves none that could be unlocked. */
    @Override
    public boolean prolong(long leaseMs) {
      var extended = lock.extend(Duration.ofMillis(leaseMs), Duration.ZERO);
      extended.ifPresent(next -> lock = next);
      return extended.isPresent();
    }
  }
}
