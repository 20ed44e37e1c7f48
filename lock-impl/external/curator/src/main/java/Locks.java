import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ListenedSocket;

/** Curator's `InterProcessMutex`, held by a session that lasts for the lease that was asked for. */
final class Locks implements Library {
  static {
    // ZooKeeper's client tells its whole environment.
    System.setProperty("org.slf4j.simpleLogger.log.org.apache.zookeeper", "warn");
  }

  static final Set<String> NAMES = Set.of("mutex");
  static final List<String> WARM_UP = List.of("mutex");

  private static final Claims CLAIMS =
      new Claims(
          "curator/mutex",
          List.of("zookeeper", "zookeeper-single"),
          List.of("renews", "fencing", "callers", "cancel", "clock"),
          false,
          Map.of("model", Map.of("kind", "fenced"), "lease", "session"));

  /** The policy of Curator's documentation. */
  private static final int FIRST_PAUSE_MS = 1_000;
  private static final int RETRIES = 3;
  /** Of the lease; in Curator's own defaults it is that of the session, too. */
  private static final int CONNECTION_PART = 4;

  private final ConcurrentHashMap<Long, Sessions> byLease = new ConcurrentHashMap<>();
  private String servers;
  private Times times;
  private Wire wire;

  static Library named(String name) {
    return new Locks();
  }

  @Override
  public Claims claims() {
    return CLAIMS;
  }

  @Override
  public void connect(JsonObject topology, Times times, Wire wire) throws Exception {
    this.times = times;
    this.wire = wire;
    servers =
        StreamSupport.stream(topology.getAsJsonArray("nodes").spliterator(), false)
            .map(JsonElement::getAsJsonObject)
            .map(node -> node.get("host").getAsString() + ":" + node.get("port").getAsInt())
            .collect(Collectors.joining(","));
    Sessions usual = sessions(times.leaseMs());
    if (!usual.curator.blockUntilConnected(times.leaseMs(), TimeUnit.MILLISECONDS))
      throw new Refused("unreachable: no server began a session");
  }

  /** Each operation of Curator is tried so often, with its pauses, while a connection is waited for, or taken for alive. */
  @Override
  public long triesOnMs() {
    long pausesMs = 0;
    for (int n = 0; n < RETRIES; n++) pausesMs += FIRST_PAUSE_MS * Math.max(1, (1L << (n + 1)) - 1);
    return pausesMs + (RETRIES + 1L) * (times.leaseMs() + times.leaseMs() / CONNECTION_PART);
  }

  /** A client of Curator has one session time-out. */
  private Sessions sessions(long leaseMs) {
    return byLease.computeIfAbsent(leaseMs, this::start);
  }

  private Sessions start(long leaseMs) {
    var sessions = new Sessions(leaseMs);
    var requests = new Requests(wire, sessions::heard);
    CuratorFramework curator =
        CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs((int) leaseMs)
            .connectionTimeoutMs((int) leaseMs / CONNECTION_PART)
            .retryPolicy(new ExponentialBackoffRetry(FIRST_PAUSE_MS, RETRIES))
            .zkClientConfig(ListenedSocket.settingsFor(requests))
            .build();
    sessions.by(curator, requests);
    curator.start();
    return sessions;
  }

  @Override
  public Granted take(String key, boolean read, long waitMs, long leaseMs) throws Exception {
    Sessions sessions = sessions(leaseMs);
    // As a value of the harness names its process, and Wire's pattern an owner's thread.
    String owner = times.client() + ":" + UUID.randomUUID() + ":" + Thread.currentThread().getId();
    Requests.Attempt attempt = sessions.requests.begin(owner);
    // One for each use, as in Curator's documentation: another of the same thread is not the same owner again.
    var mutex = new Owned(sessions.curator, "/" + key, owner);
    boolean isTaken = false;
    try {
      isTaken = mutex.acquire(waitMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException cancelled) {
      throw cancelled; // what it had handed to the client may leave yet
    } catch (Exception error) {
      if (sessions.requests.leftNothing(attempt)) throw new Refused("unreachable: " + error.getMessage());
      wire.mayLeaveYet();
      throw error;
    } finally {
      if (!isTaken) sessions.requests.forget(attempt);
    }
    return isTaken ? sessions.granted(mutex, attempt, wire) : null;
  }

  @Override
  public void close() {
    for (Sessions one : byLease.values()) one.curator.close();
  }

  /** What it stores names whose it is, where Curator by itself stores the machine's address. */
  static final class Owned extends InterProcessMutex {
    private final String owner;

    Owned(CuratorFramework curator, String path, String owner) {
      super(curator, path);
      this.owner = owner;
    }

    @Override
    protected byte[] getLockNodeBytes() {
      return owner.getBytes(StandardCharsets.UTF_8);
    }

    /** Of the calling thread's node. */
    String path() {
      return getLockPath();
    }
  }
}
