import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;

/**
 * What not every version of Redisson has. The adapter is compiled with each of them, so what some lack is called by its name, and a lock
 * that needs it is refused by name where it is missing.
 */
final class Versions {
  /** Of the library that is really loaded, by the name of its file: `3.16.4`. */
  static final String HERE = here();

  private static String here() {
    String file = Redisson.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return file.replaceFirst(".*/redisson-", "").replaceFirst("\\.jar$", "");
  }

  /** Throws Refused where this version does not have what the lock is made of. */
  static void mustHave(String lock) throws Refused {
    if (lock.equals("fenced") && !has(RedissonClient.class, "getFencedLock"))
      throw new Refused("lock: Redisson " + HERE + " has no RFencedLock");
    if (Set.of("multi", "redlock").contains(lock) && !RLock.class.isAssignableFrom(RedissonMultiLock.class))
      throw new Refused("lock: in Redisson " + HERE + " a lock of several is no RLock");
    if (lock.equals("spin") && !has(RedissonClient.class, "getSpinLock"))
      throw new Refused("lock: Redisson " + HERE + " has no spin lock");
    if (lock.equals("permits-added") && !has(RSemaphore.class, "addPermits"))
      throw new Refused("lock: Redisson " + HERE + " cannot add permits");
    if (lock.equals("rlock-no-sync") && !has(Config.class, CHECK_OF_REPLICAS))
      throw new Refused("lock: Redisson " + HERE + " has no checkLockSyncedSlaves, and cannot leave it out");
  }

  private static final String CHECK_OF_REPLICAS = "setCheckLockSyncedSlaves";

  static void withoutCheckOfReplicas(Config config) {
    set(Config.class, config, CHECK_OF_REPLICAS, boolean.class, false);
  }

  /** False: this version has a password for each kind of servers only. Newer ones warn of that. */
  static boolean passwordOfAll(Config config, String password) {
    boolean isThere = has(Config.class, "setPassword");
    if (isThere) set(Config.class, config, "setPassword", String.class, password);
    return isThere;
  }

  /** Older versions give Sentinels the password of the servers that they watch. */
  static void sentinelPassword(SentinelServersConfig servers, String password) {
    setIfThere(SentinelServersConfig.class, servers, "setSentinelPassword", String.class, password);
  }

  /** Redisson asks for two Sentinels at least; older versions do not look. */
  static void oneSentinelIsEnough(SentinelServersConfig servers) {
    setIfThere(SentinelServersConfig.class, servers, "setCheckSentinelsList", boolean.class, false);
  }

  /** The oldest keep 30 s. */
  static void watchdogTimeout(Config config, long ms) {
    setIfThere(Config.class, config, "setLockWatchdogTimeout", long.class, ms);
  }

  static long watchdogTimeoutOf(Config config) {
    try {
      return has(Config.class, "getLockWatchdogTimeout") ? (long) Config.class.getMethod("getLockWatchdogTimeout").invoke(config) : 30_000;
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }


  static RLock spinLock(RedissonClient client, String key) {
    return (RLock) set(RedissonClient.class, client, "getSpinLock", String.class, key);
  }

  /** A lock of several, by the client's method, or as its documentation said before there was one. */
  static RLock ofAll(RedissonClient client, String method, Function<RLock[], ?> made, RLock[] parts) {
    boolean isThere = has(RedissonClient.class, method);
    return (RLock) (isThere ? set(RedissonClient.class, client, method, RLock[].class, parts) : made.apply(parts));
  }

  /** False: nobody had it, as far as this version says. */
  static boolean forceUnlock(RLock lock) {
    try {
      return !Boolean.FALSE.equals(RLock.class.getMethod("forceUnlock").invoke(lock));
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof RuntimeException error) throw error;
      throw new IllegalStateException(thrown.getCause());
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }

  static void addPermits(RSemaphore semaphore, int permits) {
    set(RSemaphore.class, semaphore, "addPermits", int.class, permits);
  }

  private static void setIfThere(Class<?> type, Object on, String method, Class<?> argument, Object value) {
    if (has(type, method)) set(type, on, method, argument, value);
  }

  /** Returns what the method returns. */
  private static Object set(Class<?> type, Object on, String method, Class<?> argument, Object value) {
    try {
      return type.getMethod(method, argument).invoke(on, new Object[] {value});
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof RuntimeException error) throw error;
      throw new IllegalStateException(thrown.getCause());
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }

  static RLock fencedLock(RedissonClient client, String key) throws InterruptedException {
    return (RLock) called(RedissonClient.class, client, "getFencedLock", List.of(String.class), List.of(key));
  }

  /** Of a fenced lock: calls that method with a wait, a lease and their unit, as far as they are not null. */
  static Long token(RLock fenced, String method, Long waitMs, Long leaseMs) throws InterruptedException {
    List<Object> times = new ArrayList<>(Stream.of(waitMs, leaseMs).filter(ms -> ms != null).toList());
    var types = new ArrayList<Class<?>>(times.stream().map(any -> long.class).toList());
    if (!times.isEmpty()) {
      times.add(TimeUnit.MILLISECONDS);
      types.add(TimeUnit.class);
    }
    try {
      return (Long) called(Class.forName("org.redisson.api.RFencedLock"), fenced, method, types, times);
    } catch (ClassNotFoundException missing) {
      throw new IllegalStateException(missing);
    }
  }

  /** Throws what the method throws. */
  private static Object called(Class<?> type, Object on, String method, List<? extends Class<?>> types, List<?> values)
      throws InterruptedException {
    try {
      return type.getMethod(method, types.toArray(Class<?>[]::new)).invoke(on, values.toArray());
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof RuntimeException error) throw error;
      if (thrown.getCause() instanceof InterruptedException error) throw error;
      throw new IllegalStateException(thrown.getCause());
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }

  private static boolean has(Class<?> type, String method) {
    return Stream.of(type.getMethods()).anyMatch(one -> one.getName().equals(method));
  }

  private Versions() {}
}
