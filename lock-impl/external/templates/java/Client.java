import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.Pattern;

/**
 * A lock client for lock-torture, to be copied: put your library where Lock is, and keep the rest. Java 17, no libraries; with a
 * JSON parser on the class path, use it in place of `Request`.
 */
public final class Client {
  /** It certainly did not happen. Any other exception is a doubt: a command was sent and not answered. */
  static final class Refused extends Exception {
    Refused(String reason) {
      super(reason);
    }
  }

  record Hold(String key, String owner) {}

  /** What was answered, or is held, and when the command left that did it. */
  record Sent<T>(T what, long atNs) {}

  /** SET NX PX on one server, and scripts that compare the owner. */
  static final class Lock {
    private static final String IF_OURS = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call(%s) end return 0";
    private final String host, password;
    private final int port, timeoutMs;
    private Socket redis;

    Lock(Request asked) throws Exception {
      host = asked.text("host");
      port = (int) asked.number("port");
      password = asked.text("password");
      timeoutMs = (int) asked.number("commandTimeoutMs");
      command("PING");
    }

    /** The stamp is taken right before the command is sent, never after the answer. */
    Sent<String> command(Object... words) throws Exception {
      if (redis == null) {
        try {
          var connection = new Socket();
          connection.connect(new InetSocketAddress(host, port), timeoutMs);
          connection.setSoTimeout(timeoutMs);
          redis = connection;
        } catch (IOException error) {
          throw new Refused("unreachable: " + error.getMessage());
        }
        if (password != null) command("AUTH", password);
      }
      var bytes = new StringBuilder("*" + words.length + "\r\n");
      for (Object word : words) bytes.append("$" + String.valueOf(word).length() + "\r\n" + word + "\r\n"); // of ASCII
      long atNs = System.nanoTime();
      var line = new StringBuilder();
      try {
        redis.getOutputStream().write(bytes.toString().getBytes(StandardCharsets.US_ASCII));
        for (int next = redis.getInputStream().read(); next != '\n'; next = redis.getInputStream().read()) {
          if (next < 0) throw new IOException("the connection was closed");
          line.append((char) next);
        }
      } catch (IOException error) {
        redis.close();
        redis = null;
        throw new IOException("reconnect: " + error.getMessage());
      }
      if (line.charAt(0) == '-') throw new Refused(line.substring(1).split("\\s")[0].toLowerCase());
      return new Sent<>(line.substring(1).trim(), atNs); // OK, a number, or -1 for nothing; nothing here is answered with more
    }

    Sent<Hold> acquire(String key, long leaseMs, long waitMs) throws Exception {
      var hold = new Hold(key, UUID.randomUUID().toString());
      long untilNs = System.nanoTime() + waitMs * 1_000_000;
      while (true) {
        var answer = command("SET", key, hold.owner(), "NX", "PX", leaseMs);
        if (answer.what().equals("OK")) return new Sent<>(hold, answer.atNs());
        if (System.nanoTime() >= untilNs) throw new Refused("held");
        Thread.sleep(20);
      }
    }

    long extend(Hold hold, long leaseMs) throws Exception {
      return ifOurs("'pexpire', KEYS[1], ARGV[2]", hold, leaseMs);
    }

    void release(Hold hold) throws Exception {
      ifOurs("'del', KEYS[1]", hold, "");
    }

    private long ifOurs(String then, Hold hold, Object word) throws Exception {
      var answer = command("EVAL", IF_OURS.formatted(then), 1, hold.key(), hold.owner(), word);
      if (!answer.what().equals("1")) throw new Refused("not-owner");
      return answer.atNs();
    }
  }

  /** A line of requests, whose fields have names of their own. */
  record Request(String line) {
    String text(String field) {
      var found = Pattern.compile("\"" + field + "\":\"?([^\",}]+)").matcher(line);
      return found.find() ? found.group(1) : null;
    }

    long number(String field) {
      return Long.parseLong(text(field));
    }
  }

  private static final Map<Long, Hold> HOLDS = new HashMap<>();
  private static Lock lock;

  /** The value of the answer, as JSON; an empty one for none. */
  private static String handle(Request asked) throws Exception {
    Hold hold = asked.text("hold") == null ? null : HOLDS.get(asked.number("hold"));
    switch (asked.text("op")) {
      case "init" -> {
        lock = new Lock(asked);
        return "{\"lock\":\"my-lock\",\"features\":[\"extend\",\"clock\"],\"topologies\":[\"single\",\"replica\"]}";
      }
      case "acquire" -> {
        var granted = lock.acquire(asked.text("key"), asked.number("leaseMs"), asked.number("waitMs"));
        HOLDS.put(asked.number("id"), granted.what());
        return "{\"grantSent\":" + granted.atNs() + "}";
      }
      case "extend" -> {
        return "{\"sent\":" + lock.extend(hold, asked.number("leaseMs")) + "}";
      }
      case "release" -> lock.release(hold);
      case "clock" -> {
        return "{\"wallMs\":" + System.currentTimeMillis() + "}";
      }
      default -> throw new Refused("unsupported");
    }
    return "";
  }

  private static String answer(Request asked) {
    long beganNs = System.nanoTime(), endedNs;
    String said;
    try {
      String value = handle(asked);
      endedNs = System.nanoTime();
      said = "\"type\":\"ok\"" + (value.isEmpty() ? "" : ",\"value\":" + value);
    } catch (Exception error) {
      endedNs = System.nanoTime();
      boolean isCertain = error instanceof Refused || asked.text("op").equals("init");
      String reason = String.valueOf(error.getMessage()).replaceAll("[\"\\\\\\p{Cntrl}]", " ");
      said = "\"type\":\"" + (isCertain ? "fail" : "info") + "\",\"reason\":\"" + reason + "\"";
    }
    return "{\"id\":" + asked.text("id") + "," + said + ",\"began\":" + beganNs + ",\"ended\":" + endedNs + "}";
  }

  public static void main(String[] arguments) throws Exception {
    var protocol = System.out;
    System.setOut(System.err); // whatever else prints
    var worker = Executors.newSingleThreadExecutor();
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      var asked = new Request(line);
      worker.execute(() -> protocol.println(answer(asked)));
    }
    Runtime.getRuntime().halt(0); // ends with its input, also in the middle of a wait
  }
}
