import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * A lock client for lock-torture around a lock library of Java; the one argument names the variant.
 *
 * <p>docs/protocol.md describes what is said on standard input and output; this file is that, `Locks` the library's locks,
 * `Wire` what shows when a command really left and whether it was answered.
 */
public final class Client {
  private final Supplier<Library> libraries;
  /** Null until it is connected. */
  private volatile Library library;
  private final Wire wire = new Wire(this::renewed, this::queued);
  private final Map<Integer, Held> holds = new ConcurrentHashMap<>();
  /** Threads that carry out an acquire, by its id. */
  private final Map<Integer, Thread> acquiring = new ConcurrentHashMap<>();
  /** By caller, its thread: to a library of Java that is the owner. */
  private final Map<String, ExecutorService> callers = new ConcurrentHashMap<>();
  private boolean quorum;
  private int leaseMs;
  private int timeoutMs;
  /** Of this process. */
  private String name;

  /** Null in workloads that have none. */
  private Resource resource;

  private record Held(String key, long thread, Library.Holding holding, Long token) {}

  private Client(Supplier<Library> libraries) {
    this.libraries = libraries;
  }

  public static void main(String[] arguments) throws Exception {
    System.setOut(System.err); // whatever else prints
    if (arguments.length == 1 && arguments[0].equals("--warm-up")) {
      WarmUp.run(Locks.WARM_UP, Client::answers);
      System.exit(0);
    }
    if (arguments.length != 1 || !Locks.NAMES.contains(arguments[0])) {
      System.err.println("name one lock: " + Locks.NAMES);
      System.exit(2);
    }
    // On a machine that has much else to do a JVM takes its time to load what a library is made of.
    say(Map.of("type", "starting", "withinMs", 120_000));
    var client = new Client(() -> Locks.named(arguments[0]));
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
    var client = new Client(() -> Locks.named(variant));
    var said = new StringBuilder();
    for (String request : requests) said.append(client.handle(GSON.fromJson(request, JsonObject.class))).append('\n');
    if (client.library != null) client.library.close();
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

  private void queued(long thread, long atNs) {
    acquiring.forEach(
        (id, waiting) -> {
          if (waiting.getId() == thread) say(Map.of("type", "step", "name", "queued", "at", atNs, "hold", id));
        });
  }

  /** What is said of a hold unasked, its own answer before or after it. */
  private record Notices(int id) implements Library.Telling {
    @Override
    public void renewed(long sentNs, long leaseMs) {
      say(Map.of("type", "renewed", "hold", id, "at", sentNs, "leaseMs", leaseMs));
    }

    @Override
    public void lost(long atNs, String why) {
      say(Map.of("type", "lost", "hold", id, "at", atNs, "reason", why));
    }
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
            case "extend" -> extend(request);
            case "release" -> release(request);
            case "read", "write" -> access(operation, request);
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
    } catch (Throwable error) { // and every mistake of ours, and a class that is missing: nothing is certain
      ended = System.nanoTime();
      answer.put("type", operation.equals("init") ? "fail" : "info");
      answer.put("reason", said(error));
    }
    answer.put("began", began);
    answer.put("ended", ended);
    return answer;
  }

  private Object init(JsonObject request) throws Exception {
    Library asked = libraries.get();
    asked.mustHaveAll();
    Library.Claims claims = asked.claims();
    JsonObject topology = request.getAsJsonObject("topology");
    String kind = topology.get("kind").getAsString();
    if (!claims.topologies().contains(kind)) throw new Refused("lock: " + claims.lock() + " makes no sense on " + kind);
    JsonObject options = request.getAsJsonObject("options");
    leaseMs = options.get("leaseMs").getAsInt();
    timeoutMs = options.get("commandTimeoutMs").getAsInt();
    name = options.get("client").getAsString();
    if (options.has("resource")) resource = new Resource(options.getAsJsonObject("resource"), timeoutMs);
    connect(topology);
    // A JVM loads a thousand classes at its first lock: not to be measured as the lock's slowness.
    String own = "lock-torture-warm-up:" + name;
    try {
      warmUp(own);
    } catch (Exception error) {
      System.err.println("warm-up: " + said(error));
    }
    quorum = kind.startsWith("redlock");
    var value = claims.handshake();
    if (library.triesOnMs() > 0) value.put("answersWithinMs", Math.min(60_000, library.triesOnMs()));
    return value;
  }

  /** Takes a lock and gives it back, and has another thread wait for it in between. */
  private void warmUp(String key) throws Exception {
    var granted = library.take(key, false, 0, leaseMs);
    try {
      Aside.within(timeoutMs, () -> {
        var second = library.take(key, false, 1, leaseMs);
        if (second != null) second.holding().giveBack();
      });
    } finally {
      if (granted != null) granted.holding().giveBack();
    }
  }

  /**
   * A first connection takes longer than a command may where a JVM has much else to load, and a server may be away: a process that
   * is there already tries on, rather than that another one starts. Each try is of a library of its own, and one that does not end
   * is left alone: Lettuce waits in its own event loop for a connection of a cluster that came too late, and so for ever.
   */
  private void connect(JsonObject topology) throws Exception {
    long untilNs = System.nanoTime() + CONNECTS_WITHIN_NS;
    while (true) {
      Library fresh = libraries.get();
      try {
        Aside.within(ONE_TRY_MS, () -> fresh.connect(topology, new Library.Times(leaseMs, timeoutMs, name), wire));
        library = fresh;
        return;
      } catch (Exception error) {
        Aside.start(fresh::close);
        if (System.nanoTime() >= untilNs) throw error;
        System.err.println("connecting: " + said(error));
        Thread.sleep(CONNECTS_AGAIN_AFTER_MS);
      }
    }
  }

  private static final long CONNECTS_WITHIN_NS = 60_000_000_000L;
  private static final long CONNECTS_AGAIN_AFTER_MS = 200;
  /** Long enough for a JVM on a machine that has much else to do. */
  private static final long ONE_TRY_MS = 20_000;

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
    try {
      Library.Granted granted;
      try {
        granted = library.take(key, read, request.get("waitMs").getAsLong(), request.get("leaseMs").getAsLong());
      } catch (Exception error) {
        // What was handed to the library's own threads may leave after its caller was interrupted.
        throw isInterruption(error) ? error : judged(error, operation);
      }
      if (granted == null) {
        operation.settle(timeoutMs);
        if (operation.inDoubt() && !quorum) throw new IllegalStateException("reconnect: refused after a command without an answer");
        throw new Refused(quorum ? "no-quorum" : "held");
      }
      holds.put(id, new Held(key, Thread.currentThread().getId(), granted.holding(), granted.token()));
      var value = new LinkedHashMap<String, Object>();
      Long fromNs = granted.leaseFromNs();
      value.put("grantSent", fromNs != null ? fromNs : operation.sentNs(library.claims().several()));
      if (granted.token() != null) value.put("token", granted.token());
      operation.granted();
      granted.holding().tells(new Notices(id));
      return value;
    } finally {
      operation.over();
    }
  }

  private Object extend(JsonObject request) throws Exception {
    long leaseMs = request.get("leaseMs").getAsLong();
    long sentNs = ours(request, holding -> holding.prolong(leaseMs)).sentNs(library.claims().several());
    return Map.of("sent", sentNs);
  }

  private Object release(JsonObject request) throws Exception {
    ours(request, Library.Holding::giveBack);
    Held gone = holds.remove(request.get("hold").getAsInt());
    boolean nested = holds.values().stream().anyMatch(one -> one.key().equals(gone.key()) && one.thread() == gone.thread());
    if (nested) wire.stillHeld(gone.key(), gone.thread());
    return null;
  }

  private Object access(String operation, JsonObject request) throws Exception {
    int hold = request.get("hold").getAsInt();
    Held held = holds.get(hold);
    if (held == null) throw new Refused("unknown-hold: " + hold);
    if (resource == null) throw new Refused("unsupported: init named no resource");
    Long value = request.has("value") ? request.get("value").getAsLong() : null;
    return resource.ask(request.get("id").getAsInt(), operation, held.key(), held.token(), value);
  }

  private interface Using {
    boolean of(Library.Holding holding) throws Exception;
  }

  /** Does something with what is held; throws unless it was done. */
  private Wire.Operation ours(JsonObject request, Using using) throws Exception {
    int id = request.get("hold").getAsInt();
    Held held = holds.get(id);
    if (held == null) throw new Refused("unknown-hold: " + id);
    Wire.Operation operation = wire.begin(held.key());
    try {
      if (using.of(held.holding())) return operation;
    } catch (Refused refused) {
      throw refused;
    } catch (Exception error) {
      throw judged(error, operation);
    } finally {
      operation.over();
    }
    if (operation.inDoubt()) throw new IllegalStateException("reconnect: not ours after a command without an answer");
    throw new Refused("not-owner");
  }

  /** Certain where nothing left, or where all that left was answered and the answer is an error of the server. */
  private static Exception judged(Exception error, Wire.Operation operation) {
    if (operation.sentNothing()) return new Refused("unreachable: " + said(error));
    if (operation.inDoubt()) return error;
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      // Redisson takes this word off, and says it by the name of its exception.
      boolean full = cause.getClass().getSimpleName().equals("RedisOutOfMemoryException");
      String word = full ? "OOM" : String.valueOf(cause.getMessage()).split("[ .]")[0];
      if (REFUSALS.contains(word)) return new Refused(word.toLowerCase());
    }
    return error;
  }

  private static boolean isInterruption(Exception error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause())
      if (cause instanceof InterruptedException) return true;
    return false;
  }

  /** What a server says when it did not carry a command out. */
  private static final List<String> REFUSALS =
      List.of("READONLY", "CLUSTERDOWN", "NOREPLICAS", "LOADING", "MASTERDOWN", "TRYAGAIN", "MISCONF", "OOM");

  private static String said(Throwable error) {
    return error.getClass().getSimpleName() + ": " + error.getMessage();
  }
}
