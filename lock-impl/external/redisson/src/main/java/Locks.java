import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/** The locks of Redisson that the adapter knows, by variant: `rlock`, or `rlock:lock-lease` where the form of its call is chosen. */
final class Locks implements Library {
  @FunctionalInterface
  private interface Taking {
    Granted take(List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs)
        throws InterruptedException;
  }

  /**
   * A lock, and what its handshake says of it; `forms`: it can be called in all of them, the first of which is the default. One that
   * has but one form of its own has none.
   */
  private record Variant(
      Taking taking,
      List<String> topologies,
      List<String> features,
      boolean several,
      Map<String, Object> says,
      List<Form> forms) {
    Variant(Taking taking, List<String> features, Map<String, Object> says, List<Form> forms) {
      this(taking, ONE_SERVER, features, false, says, forms);
    }

    boolean nests() {
      return features.contains(NESTS);
    }
  }

  private static final String NESTS = "reentrant";

  private static final List<String> ONE_SERVER = List.of("single", "replica", "sentinel", "cluster");
  private static final List<String> INDEPENDENT_NODES = List.of("redlock", "redlock-sentinel");
  private static final List<String> ANYWHERE = Stream.concat(ONE_SERVER.stream(), INDEPENDENT_NODES.stream()).toList();
  private static final List<String> FEATURES = List.of("callers", "cancel", "clock");
  private static final Map<String, Object> MUTEX = Map.of("model", Map.of("kind", "mutex"));
  private static final Map<String, Object> READ_WRITE = Map.of("model", Map.of("kind", "read-write"));

  /**
   * It declares no time for which the place of a client that died is kept: as `fairLockWaitTimeout` that is five minutes, in which a
   * lock that nobody holds is granted to nobody. That is to be found, and not to be waited for.
   */
  private static final Map<String, Object> FAIR = Map.of("model", Map.of("kind", "fair"));

  /** What a multi lock of one server is made of, as ends of the key's name. */
  private static final List<String> MULTI = List.of("", ":b", ":c");

  private static final int PERMITS = 2;
  private static final int COUNTERS = 3;

  private static final Map<String, Variant> ALL =
      Map.ofEntries(
          Map.entry("rlock", mutex((clients, key) -> clients.get(0).getLock(key))),
          Map.entry("rlock-no-sync", mutex((clients, key) -> clients.get(0).getLock(key))),
          Map.entry("watchdog", new Variant(of((clients, key) -> clients.get(0).getLock(key)), with(NESTS), MUTEX, List.of(Form.TRY_LOCK_WAIT))),
          Map.entry("kept-object", new Variant(Locks::keptObject, FEATURES, MUTEX, List.of(Form.TRY_LOCK_WAIT))),
          Map.entry("shutdown", new Variant(Locks::shutDown, FEATURES, MUTEX, List.of(Form.TRY_LOCK_WAIT))),
          Map.entry("force-unlock", new Variant(Locks::forced, with(NESTS), MUTEX, Form.ALL)),
          Map.entry("barging", new Variant(Locks::barging, with(NESTS), FAIR, Form.ALL)),
          Map.entry("read-beside-lock", new Variant(Locks::readBesideLock, with("shared"), READ_WRITE, Form.ALL)),
          Map.entry("permits-added", new Variant(Locks::permitsAdded, FEATURES, permits("never"), List.of())),
          Map.entry("spin", mutex((clients, key) -> Versions.spinLock(clients.get(0), key))),
          Map.entry("redlock", new Variant(of(Locks::redLock), INDEPENDENT_NODES, FEATURES, true, MUTEX, Form.ALL)),
          Map.entry("multi", new Variant(of(Locks::multi), ANYWHERE, with("all-nodes"), true, MUTEX, Form.ALL)),
          Map.entry("fair", new Variant(of((clients, key) -> clients.get(0).getFairLock(key)), with(NESTS), FAIR, Form.ALL)),
          Map.entry("fenced", new Variant(Locks::fenced, with("fencing"), Map.of("model", Map.of("kind", "fenced")), Form.ALL)),
          Map.entry("read-write", new Variant(Locks::readWrite, with("shared", "downgrade"), READ_WRITE, Form.ALL)),
          Map.entry("latch", new Variant(Locks::latch, with("shared"), Map.of("model", Map.of("kind", "latch", "count", COUNTERS)), List.of())),
          Map.entry("semaphore", new Variant(Locks::semaphore, FEATURES, permits("never"), List.of())),
          Map.entry("permit-expirable", new Variant(Locks::permitExpirable, FEATURES, permits("lease"), List.of())));

  static final Set<String> NAMES = names();
  /** Which have the most of what a client loads. */
  static final List<String> WARM_UP = List.of("rlock", "read-write", "fenced", "permit-expirable");
  /** What a script answers that has taken a lock. */
  static final String TAKEN = "$-1\r\n";

  private final String name;
  private final Variant variant;
  /** Null: it has but one. */
  private final Form form;
  /** As it was named, where it was. */
  private final String namedForm;
  private final List<RedissonClient> clients = new ArrayList<>();
  private JsonObject topology;
  private Times times;
  private Wire wire;

  private Locks(String name) {
    String[] parts = name.split(":", 2);
    this.name = parts[0];
    this.variant = ALL.get(parts[0]);
    this.namedForm = parts.length == 1 ? null : parts[1];
    List<Form> forms = variant.forms();
    this.form = namedForm != null ? Form.typed(namedForm) : forms.isEmpty() ? null : forms.get(0);
  }

  static Library named(String name) {
    return new Locks(name);
  }

  private static Set<String> names() {
    var names = new TreeSet<String>();
    ALL.forEach(
        (name, variant) -> {
          names.add(name);
          if (variant.forms().size() > 1) for (Form form : variant.forms()) names.add(name + ":" + form.typed);
        });
    return names;
  }

  private static List<String> with(String... more) {
    var features = new ArrayList<>(List.of(more));
    features.addAll(FEATURES);
    return features;
  }

  private static Map<String, Object> permits(String until) {
    return Map.of("model", Map.of("kind", "semaphore", "permits", PERMITS), "deadlines", Map.of("permit", until));
  }

  @Override
  public Claims claims() {
    var features = new ArrayList<>(variant.features());
    if (form != null && !form.hasLease) features.add("renews");
    if (form != null && !form.hasWait) features.add("no-wait");
    String calls = "redisson/" + name + "@" + Versions.HERE + (namedForm == null ? "" : ":" + namedForm);
    return new Claims(calls, variant.topologies(), features, variant.several(), variant.says());
  }

  @Override
  public void mustHaveAll() throws Refused {
    Versions.mustHave(name);
  }

  @Override
  public Granted take(String key, boolean read, long waitMs, long leaseMs) throws InterruptedException, Refused {
    if (clients.get(0).isShutdown()) {
      clients.clear();
      connect(topology, times, wire);
    }
    Granted granted = variant.taking().take(clients, key, read, form, waitMs, leaseMs);
    if (granted == null || !(granted.holding() instanceof Unlocking unlocking)) return granted; // refused, or a permit
    String what = key + (read ? " read " : " write ") + Thread.currentThread().getId();
    List<Nested> stack = held.computeIfAbsent(what, any -> new ArrayList<>());
    // Taken once: what this thread was granted before had ended by then.
    if (!stack.isEmpty() && !(variant.nests() && unlocking.lock().getHoldCount() > 1)) stack.clear();
    var nested = new Nested(stack, unlocking);
    stack.add(nested);
    return new Granted(nested, granted.token());
  }

  /** By key, mode and thread, the grants that have not ended yet. Each is its thread's own. */
  private final Map<String, List<Nested>> held = new ConcurrentHashMap<>();

  /**
   * An unlock names no grant: it gives back what the thread has now. Who was granted a lock again, after the lease of an earlier
   * grant had ended, has nothing of that left to give back, and an application would unlock the new one by it.
   */
  private final class Nested implements Holding {
    private final List<Nested> stack;
    private final Holding holding;

    Nested(List<Nested> stack, Holding holding) {
      this.stack = stack;
      this.holding = holding;
    }

    @Override
    public boolean giveBack() throws Exception {
      if (!stack.contains(this)) return false;
      boolean given = holding.giveBack();
      if (given) stack.remove(this);
      else stack.clear(); // the lock is not this thread's, however often it took it
      return given;
    }
  }

  /** Gives a lock back as an application does. */
  private record Unlocking(RLock lock) implements Holding {
    @Override
    public boolean giveBack() {
      try {
        lock.unlock();
        return true;
      } catch (IllegalMonitorStateException notOurs) {
        return false;
      }
    }
  }

  @Override
  public void close() {
    for (RedissonClient one : clients) shutdown(one);
    clients.clear();
  }

  /** Redisson leaves loops running that were given to it, and its own it would end. */
  private static void shutdown(RedissonClient client) {
    client.shutdown();
    client.getConfig().getEventLoopGroup().shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  /** Clients with Redisson's own settings (resends among them) but for the time that a command may take. */
  @Override
  public void connect(JsonObject topology, Times times, Wire wire) throws Refused {
    this.topology = topology;
    this.times = times;
    this.wire = wire;
    switch (topology.get("kind").getAsString()) {
      case "single", "replica" -> clients.add(single(topology, topology.getAsJsonObject("node")));
      case "redlock", "redlock-sentinel" -> {
        int nodes = topology.getAsJsonArray("nodes").size();
        wire.needs(variant.features().contains("all-nodes") ? nodes : nodes / 2 + 1);
        for (JsonElement node : topology.getAsJsonArray("nodes")) {
          try {
            JsonObject one = node.getAsJsonObject();
            clients.add(one.has("sentinels") ? sentinel(topology, one) : single(topology, one));
          } catch (RedisException error) {
            throw new Refused("unreachable: " + error.getMessage());
          }
        }
      }
      case "sentinel" -> clients.add(sentinel(topology, topology));
      default -> {
        Config config = config(topology);
        var servers = config.useClusterServers();
        for (JsonElement node : topology.getAsJsonArray("nodes")) servers.addNodeAddress(address(node.getAsJsonObject()));
        servers.setTimeout(times.commandMs()).setConnectTimeout(times.commandMs());
        if (password != null && !Versions.passwordOfAll(config, password)) servers.setPassword(password);
        clients.add(Redisson.create(config));
      }
    }
  }

  @Override
  public long triesOnMs() {
    // For ever is too long for a run: who waits through so many leases is ended, as a program is by its user.
    if (form != null && form.waitsWithoutEnd) return LEAST_WAIT_MS + LEASES_WAITED * times.leaseMs();
    int again = new Config().useSingleServer().getRetryAttempts();
    return clients.size() * ((again + 1) * times.commandMs() + again * LONGEST_PAUSE_MS);
  }

  /** Redisson draws its pauses between 1 and 2 s. */
  private static final long LONGEST_PAUSE_MS = 2_000;

  private static final long LEAST_WAIT_MS = 10_000;
  private static final int LEASES_WAITED = 5;

  private RedissonClient single(JsonObject topology, JsonObject node) {
    Config config = config(topology);
    var server = config.useSingleServer().setAddress(address(node)).setConnectionMinimumIdleSize(2);
    server.setTimeout(times.commandMs()).setConnectTimeout(times.commandMs());
    if (password != null && !Versions.passwordOfAll(config, password)) server.setPassword(password);
    return Redisson.create(config);
  }

  /** `named` says which primary its Sentinels watch. */
  private RedissonClient sentinel(JsonObject topology, JsonObject named) {
    Config config = config(topology);
    var servers = config.useSentinelServers().setMasterName(named.get("masterName").getAsString());
    for (JsonElement sentinel : named.getAsJsonArray("sentinels")) servers.addSentinelAddress(address(sentinel.getAsJsonObject()));
    if (named.getAsJsonArray("sentinels").size() < 2) Versions.oneSentinelIsEnough(servers);
    if (topology.has("password")) Versions.sentinelPassword(servers, topology.get("password").getAsString());
    servers.setTimeout(times.commandMs()).setConnectTimeout(times.commandMs());
    if (password != null && !Versions.passwordOfAll(config, password)) servers.setPassword(password);
    return Redisson.create(config);
  }

  private Config config(JsonObject topology) {
    var loops = new Channels(wire, variant.says() == FAIR && form != Form.TRY_LOCK, NETTY_THREADS);
    Config config = new Config().setEventLoopGroup(loops).setNettyThreads(NETTY_THREADS).setThreads(4);
    Versions.watchdogTimeout(config, times.leaseMs());
    if (name.equals("rlock-no-sync")) Versions.withoutCheckOfReplicas(config);
    password = topology.has("password") ? topology.get("password").getAsString() : null;
    return config;
  }

  private static final int NETTY_THREADS = 4;

  /** Of all servers; null: they ask for none. */
  private String password;

  private static String address(JsonObject endpoint) {
    return "redis://" + endpoint.get("host").getAsString() + ":" + endpoint.get("port").getAsInt();
  }

  private interface Getting {
    RLock get(List<RedissonClient> clients, String key);
  }

  private static Variant mutex(Getting getting) {
    return new Variant(of(getting), with(NESTS), MUTEX, Form.ALL);
  }

  private static Taking of(Getting getting) {
    return (clients, key, read, form, waitMs, leaseMs) -> taken(getting.get(clients, key), form, waitMs, leaseMs);
  }

  private static Granted taken(RLock lock, Form form, long waitMs, long leaseMs) throws InterruptedException {
    return form.call(lock, waitMs, leaseMs) ? granted(lock, null) : null;
  }

  private static Granted granted(RLock lock, Long token) {
    return new Granted(new Unlocking(lock), token);
  }

  /** A twin that is wrong: `forceUnlock()` asks neither who holds nor how often. */
  private static Granted forced(
      List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs) throws InterruptedException {
    RLock lock = clients.get(0).getLock(key);
    return form.call(lock, waitMs, leaseMs) ? new Granted(() -> Versions.forceUnlock(lock), null) : null;
  }

  /** A twin that is wrong: a plain lock of the same name asks nobody's leave, and passes who waits in the queue of the fair one. */
  private static Granted barging(
      List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs) throws InterruptedException {
    RLock plain = clients.get(0).getLock(key);
    if (plain.tryLock(0, leaseMs, TimeUnit.MILLISECONDS)) return granted(plain, null);
    return taken(clients.get(0).getFairLock(key), form, waitMs, leaseMs);
  }

  /** A twin that is wrong: to readers a plain lock of the same name is none. */
  private static Granted readBesideLock(
      List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs) throws InterruptedException {
    RedissonClient client = clients.get(0);
    return taken(read ? client.getReadWriteLock(key).readLock() : client.getLock(key), form, waitMs, leaseMs);
  }

  /**
   * Gives back by closing the instance, as a program does that ends without its unlock. What comes next is asked by another instance of
   * the same process.
   */
  private static Granted shutDown(
      List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs) throws InterruptedException {
    RedissonClient client = clients.get(0);
    if (!form.call(client.getLock(key), waitMs, leaseMs)) return null;
    return new Granted(
        () -> {
          shutdown(client);
          throw new Refused("closed: the instance, without an unlock");
        },
        null);
  }

  /** One object for each key, as a field of an application has it; a lease that is not the usual one is named in the call. */
  private static Granted keptObject(
      List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs) throws InterruptedException {
    RLock lock = KEPT.computeIfAbsent(key, clients.get(0)::getLock);
    boolean named = leaseMs != Versions.watchdogTimeoutOf(clients.get(0).getConfig());
    return taken(lock, named ? Form.TRY_LOCK_WAIT_LEASE : form, waitMs, leaseMs);
  }

  private static final Map<String, RLock> KEPT = new ConcurrentHashMap<>();

  private static Granted fenced(
      List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs) throws InterruptedException {
    RLock lock = Versions.fencedLock(clients.get(0), key);
    Long token = form.callForToken(lock, waitMs, leaseMs);
    return token == null ? null : granted(lock, token);
  }

  private static Granted readWrite(
      List<RedissonClient> clients, String key, boolean read, Form form, long waitMs, long leaseMs) throws InterruptedException {
    RReadWriteLock lock = clients.get(0).getReadWriteLock(key);
    return taken(read ? lock.readLock() : lock.writeLock(), form, waitMs, leaseMs);
  }

  @SuppressWarnings("deprecation") // what many still run
  private static RLock redLock(List<RedissonClient> clients, String key) {
    RLock[] parts = clients.stream().map(client -> client.getLock(key)).toArray(RLock[]::new);
    return Versions.ofAll(clients.get(0), "getRedLock", RedissonRedLock::new, parts);
  }

  /** On independent nodes one part of each. */
  private static RLock multi(List<RedissonClient> clients, String key) {
    RedissonClient first = clients.get(0);
    Stream<RLock> parts =
        clients.size() == 1 ? MULTI.stream().map(end -> first.getLock(key + end)) : clients.stream().map(client -> client.getLock(key));
    return Versions.ofAll(first, "getMultiLock", RedissonMultiLock::new, parts.toArray(RLock[]::new));
  }

  private static Granted semaphore(
      List<RedissonClient> clients, String key, boolean read, Form none, long waitMs, long leaseMs) throws InterruptedException {
    RSemaphore semaphore = clients.get(0).getSemaphore(key);
    if (SET_UP.add(key)) semaphore.trySetPermits(PERMITS);
    return taken(semaphore, waitMs);
  }

  /** A twin that is wrong: each process adds its permits to those that are there. */
  private static Granted permitsAdded(
      List<RedissonClient> clients, String key, boolean read, Form none, long waitMs, long leaseMs) throws InterruptedException {
    RSemaphore semaphore = clients.get(0).getSemaphore(key);
    if (SET_UP.add(key)) Versions.addPermits(semaphore, PERMITS);
    return taken(semaphore, waitMs);
  }

  private static Granted taken(RSemaphore semaphore, long waitMs) throws InterruptedException {
    if (!semaphore.tryAcquire(waitMs, TimeUnit.MILLISECONDS)) return null;
    return new Granted(
        () -> {
          semaphore.release();
          return true;
        },
        null);
  }

  /** To write is to be one of those who count it down, when it is given back; to read is to wait until it opens. */
  private static Granted latch(
      List<RedissonClient> clients, String key, boolean read, Form none, long waitMs, long leaseMs) throws InterruptedException {
    RCountDownLatch latch = clients.get(0).getCountDownLatch(key);
    if (read) return latch.await(waitMs, TimeUnit.MILLISECONDS) ? new Granted(() -> true, null) : null;
    latch.trySetCount(COUNTERS);
    return new Granted(
        () -> {
          latch.countDown();
          return true;
        },
        null);
  }

  private static Granted permitExpirable(
      List<RedissonClient> clients, String key, boolean read, Form none, long waitMs, long leaseMs) throws InterruptedException {
    RPermitExpirableSemaphore semaphore = clients.get(0).getPermitExpirableSemaphore(key);
    if (SET_UP.add(key)) semaphore.trySetPermits(PERMITS);
    String permit = semaphore.tryAcquire(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    return permit == null ? null : new Granted(() -> semaphore.tryRelease(permit), null);
  }

  /** Keys whose permits this process has made sure of: as an application does, once, when it starts. */
  private static final Set<String> SET_UP = ConcurrentHashMap.newKeySet();
}
