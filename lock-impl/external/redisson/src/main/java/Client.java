import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/**
 * A lock client for lock-torture around the locks of Redisson; the one argument names the variant.
 *
 * <p>docs/protocol.md describes what is said on standard input and output; this file is that, `Locks` the library's locks,
 * `Wire` what shows when a command really left and whether it was answered.
 */
public final class Client {
  /** Certainly not done; the message is the reason that the report shows. */
  private static final class Refused extends Exception {
    Refused(String reason) {
      super(reason);
    }
  }

  private final String name;
  private final Locks.Variant variant;
  private final Wire wire = new Wire(this::renewed);
  private final List<RedissonClient> clients = new ArrayList<>();
  private final Map<Integer, Held> holds = new ConcurrentHashMap<>();
  /** Threads that carry out an acquire, by its id. */
  private final Map<Integer, Thread> acquiring = new ConcurrentHashMap<>();
  /** By caller, its thread: to Redisson that is the owner. */
  private final Map<String, ExecutorService> callers = new ConcurrentHashMap<>();
  private boolean quorum;
  private int leaseMs;
  private int timeoutMs;

  private record Held(String key, long thread, Locks.Returning returning) {}

  private Client(String name) {
    this.name = name;
    this.variant = Locks.ALL.get(name);
  }

  public static void main(String[] arguments) throws Exception {
    System.setOut(System.err); // whatever else prints
    if (arguments.length == 1 && arguments[0].equals("--warm-up")) {
      WarmUp.run(List.of("rlock", "read-write", "fenced", "permit-expirable"), Client::answers);
      System.exit(0);
    }
    if (arguments.length != 1 || !Locks.ALL.containsKey(arguments[0])) {
      System.err.println("name one lock: " + Locks.ALL.keySet());
      System.exit(2);
    }
    // On a machine that has much else to do a JVM takes its time to load what Redisson is made of.
    say(Map.of("type", "starting", "withinMs", 120_000));
    var client = new Client(arguments[0]);
    try (var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        if (!line.isBlank()) client.take(GSON.fromJson(line, JsonObject.class));
      }
    } catch (java.io.IOException error) {
      System.err.println(error);
    }
    // Ends with its input, at once, also in the middle of a wait.
    Runtime.getRuntime().halt(0);
  }

  /** Without input and output. */
  private static String answers(String variant, String... requests) {
    var client = new Client(variant);
    var said = new StringBuilder();
    for (String request : requests) said.append(client.handle(GSON.fromJson(request, JsonObject.class))).append('\n');
    for (RedissonClient one : client.clients) one.shutdown();
    return said.toString();
  }

  /** Has the request carried out by the thread of its caller, one after the other; a cancellation at once. */
  private void take(JsonObject request) {
    if (request.get("op").getAsString().equals("cancel")) {
      say(cancel(request));
      return;
    }
    String caller = request.has("caller") ? request.get("caller").getAsString() : "";
    callers.computeIfAbsent(caller, any -> Executors.newSingleThreadExecutor()).execute(() -> say(handle(request)));
  }

  /** Interrupts the thread that waits, as an application does whose time is over. */
  private Map<String, Object> cancel(JsonObject request) {
    var answer = new LinkedHashMap<String, Object>();
    answer.put("id", request.get("id").getAsInt());
    // Not between its end and the next operation of its thread, which would be meant by none.
    synchronized (acquiring) {
      Thread waiting = acquiring.remove(request.get("acquire").getAsInt());
      answer.put("type", waiting == null ? "fail" : "ok");
      if (waiting == null) answer.put("reason", "answered: it is not on its way");
      else waiting.interrupt();
    }
    return answer;
  }

  private static final PrintStream PROTOCOL = System.out;
  private static final Gson GSON = new Gson();

  private static synchronized void say(Map<String, Object> line) {
    byte[] bytes = (GSON.toJson(line) + "\n").getBytes(StandardCharsets.UTF_8);
    PROTOCOL.write(bytes, 0, bytes.length);
    PROTOCOL.flush();
  }

  private void renewed(String key, long thread, long sentNs) {
    holds.forEach(
        (id, held) -> {
          if (held.key().equals(key) && held.thread() == thread)
            say(Map.of("type", "renewed", "hold", id, "at", sentNs, "leaseMs", leaseMs));
        });
  }

  private Map<String, Object> handle(JsonObject request) {
    var answer = new LinkedHashMap<String, Object>();
    answer.put("id", request.get("id").getAsInt());
    String operation = request.get("op").getAsString();
    long began = System.nanoTime();
    long ended = 0;
    try {
      Object value =
          switch (operation) {
            case "init" -> init(request);
            case "acquire" -> acquire(request);
            case "release" -> release(request);
            case "clock" -> Map.of("wallMs", System.currentTimeMillis());
            default -> throw new Refused("unsupported: operation " + operation);
          };
      ended = System.nanoTime();
      answer.put("type", "ok");
      if (value != null) answer.put("value", value);
    } catch (Refused refused) {
      ended = System.nanoTime();
      answer.put("type", "fail");
      answer.put("reason", refused.getMessage());
    } catch (Exception error) { // and every mistake of ours: nothing is certain
      ended = System.nanoTime();
      answer.put("type", operation.equals("init") ? "fail" : "info");
      answer.put("reason", said(error));
    }
    answer.put("began", began);
    answer.put("ended", ended);
    return answer;
  }

  private Object init(JsonObject request) throws Refused {
    JsonObject topology = request.getAsJsonObject("topology");
    String kind = topology.get("kind").getAsString();
    if (!variant.topologies().contains(kind)) throw new Refused("lock: redisson/" + name + " makes no sense on " + kind);
    JsonObject options = request.getAsJsonObject("options");
    leaseMs = options.get("leaseMs").getAsInt();
    timeoutMs = options.get("commandTimeoutMs").getAsInt();
    connect(topology, kind);
    // A JVM loads a thousand classes at its first lock: not to be measured as the lock's slowness.
    String own = "lock-torture-warm-up:" + options.get("client").getAsString();
    try {
      var granted = variant.taking().take(clients, own, false, 0, 1_000);
      if (granted != null) granted.returning().giveBack();
    } catch (Exception error) {
      System.err.println("warm-up: " + said(error));
    }
    quorum = kind.equals("redlock");
    var value = new LinkedHashMap<String, Object>();
    value.put("lock", "redisson/" + name);
    value.put("features", variant.features());
    value.put("topologies", variant.topologies());
    value.put("model", variant.model());
    value.put("answersWithinMs", Math.min(60_000, clients.size() * tryingOnMs()));
    if (!variant.deadlines().isEmpty()) value.put("deadlines", variant.deadlines());
    return value;
  }

  /** Clients with Redisson's own settings (resends among them) but for the time that a command may take. */
  private void connect(JsonObject topology, String kind) throws Refused {
    switch (kind) {
      case "single", "replica" -> clients.add(single(topology, topology.getAsJsonObject("node")));
      case "redlock" -> {
        for (JsonElement node : topology.getAsJsonArray("nodes")) {
          try {
            clients.add(single(topology, node.getAsJsonObject()));
          } catch (RedisException error) {
            throw new Refused("unreachable: " + said(error));
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

  /** How long Redisson tries on by itself with one command to a server that does not answer, in milliseconds. */
  private long tryingOnMs() {
    int again = new Config().useSingleServer().getRetryAttempts();
    return (again + 1) * timeoutMs + again * LONGEST_PAUSE_MS;
  }

  /** Redisson draws its pauses between 1 and 2 s. */
  private static final long LONGEST_PAUSE_MS = 2_000;

  private RedissonClient single(JsonObject topology, JsonObject node) {
    Config config = config(topology);
    var server = config.useSingleServer().setAddress(address(node)).setConnectionMinimumIdleSize(2);
    return Redisson.create(timed(config, server));
  }

  private Config config(JsonObject topology) {
    Config config = new Config().setNettyHook(wire).setNettyThreads(4).setThreads(4).setLockWatchdogTimeout(leaseMs);
    if (name.equals("rlock-no-sync")) config.setCheckLockSyncedSlaves(false);
    if (topology.has("password")) config.setPassword(topology.get("password").getAsString());
    return config;
  }

  private Config timed(Config config, BaseConfig<?> servers) {
    servers.setTimeout(timeoutMs).setConnectTimeout(timeoutMs);
    return config;
  }

  private static String address(JsonObject endpoint) {
    return "redis://" + endpoint.get("host").getAsString() + ":" + endpoint.get("port").getAsInt();
  }

  private Object acquire(JsonObject request) throws Exception {
    int id = request.get("id").getAsInt();
    acquiring.put(id, Thread.currentThread());
    try {
      return acquire(id, request);
    } finally {
      synchronized (acquiring) {
        acquiring.remove(id);
        Thread.interrupted(); // told too late
      }
    }
  }

  private Object acquire(int id, JsonObject request) throws Exception {
    String key = request.get("key").getAsString();
    boolean read = request.has("mode") && request.get("mode").getAsString().equals("read");
    Wire.Operation operation = wire.begin(key);
    Locks.Granted granted;
    try {
      granted =
          variant.taking().take(clients, key, read, request.get("waitMs").getAsLong(), request.get("leaseMs").getAsLong());
    } catch (RedisException error) {
      operation.over();
      throw judged(error, operation);
    } catch (InterruptedException cancelled) {
      operation.over();
      if (operation.sentNothing()) throw new Refused("cancelled");
      throw cancelled;
    }
    if (granted == null) {
      operation.settle(timeoutMs);
      operation.over();
      if (operation.inDoubt() && !quorum) throw new IllegalStateException("reconnect: refused after a command without an answer");
      throw new Refused(quorum ? "no-quorum" : "held");
    }
    long sentNs = operation.grantSentNs(variant.several());
    holds.put(id, new Held(key, Thread.currentThread().getId(), granted.returning()));
    operation.granted();
    var value = new LinkedHashMap<String, Object>();
    value.put("grantSent", sentNs);
    if (granted.token() != null) value.put("token", granted.token());
    return value;
  }

  private Object release(JsonObject request) throws Exception {
    int id = request.get("hold").getAsInt();
    Held hold = holds.get(id);
    if (hold == null) throw new Refused("unknown-hold: " + id);
    Wire.Operation operation = wire.begin(hold.key());
    try {
      if (!hold.returning().giveBack()) throw new IllegalMonitorStateException("not ours any more");
    } catch (IllegalMonitorStateException error) {
      if (operation.inDoubt()) throw error;
      throw new Refused("not-owner");
    } catch (RedisException error) {
      throw judged(error, operation);
    } finally {
      operation.over();
    }
    holds.remove(id);
    return null;
  }

  /** Certain where nothing left, or where all that left was answered and the answer is an error of the server. */
  private Exception judged(RedisException error, Wire.Operation operation) {
    if (operation.sentNothing()) return new Refused("unreachable: " + said(error));
    if (operation.inDoubt()) return error;
    String word = String.valueOf(error.getMessage()).split("[ .]")[0];
    return REFUSALS.contains(word) ? new Refused(word.toLowerCase()) : error;
  }

  /** What a server says when it did not carry a command out. */
  private static final List<String> REFUSALS =
      List.of("READONLY", "CLUSTERDOWN", "NOREPLICAS", "LOADING", "MASTERDOWN", "TRYAGAIN", "MISCONF", "OOM");

  private static String said(Throwable error) {
    return error.getClass().getSimpleName() + ": " + error.getMessage();
  }
}
