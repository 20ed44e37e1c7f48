import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.BaseConfig;
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
    if (lock.equals("spin") && !has(RedissonClient.class, "getSpinLock"))
      throw new Refused("lock: Redisson " + HERE + " has no spin lock");
    if (lock.equals("rlock-no-sync") && !has(Config.class, CHECK_OF_REPLICAS))
      throw new Refused("lock: Redisson " + HERE + " has no checkLockSyncedSlaves, and cannot leave it out");
  }

  private static final String CHECK_OF_REPLICAS = "setCheckLockSyncedSlaves";

  static void withoutCheckOfReplicas(Config config) {
    try {
      Config.class.getMethod(CHECK_OF_REPLICAS, boolean.class).invoke(config, false);
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }

  /** Newer versions warn of the setting of old. */
  static void password(Config config, BaseConfig<?> servers, String password) {
    Object on = has(Config.class, "setPassword") ? config : servers;
    try {
      on.getClass().getMethod("setPassword", String.class).invoke(on, password);
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }

  /** Older versions give Sentinels the password of the servers that they watch. */
  static void sentinelPassword(SentinelServersConfig servers, String password) {
    if (!has(SentinelServersConfig.class, "setSentinelPassword")) return;
    try {
      SentinelServersConfig.class.getMethod("setSentinelPassword", String.class).invoke(servers, password);
    } catch (ReflectiveOperationException missing) {
      throw new IllegalStateException(missing);
    }
  }

  static RLock spinLock(RedissonClient client, String key) {
    try {
      return (RLock) RedissonClient.class.getMethod("getSpinLock", String.class).invoke(client, key);
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
