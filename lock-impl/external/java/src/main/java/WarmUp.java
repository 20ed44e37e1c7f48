import com.google.gson.Gson;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Has a client of each kind of lock take it once from a server that is none, so that a JVM which ends then can keep the classes
 * that are loaded by that (an archive, which the next one maps instead of loading a thousand classes).
 */
final class WarmUp {
  private static final String INFO = "role:master\r\nconnected_slaves:0\r\n";

  static void run(List<String> variants, Answering answering) throws IOException {
    try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      var accepting = new Thread(() -> accept(server));
      accepting.setDaemon(true);
      accepting.start();
      var node = Map.of("name", "r1", "host", "127.0.0.1", "port", server.getLocalPort());
      var init =
          Map.of(
              "id", 0, "op", "init", "protocol", 2, "topology", Map.of("kind", "single", "node", node), "options",
              Map.of("client", "c1", "leaseMs", 1_000, "commandTimeoutMs", 500, "seed", 1));
      var gson = new Gson();
      for (String variant : variants) {
        var told = answering.of(variant, gson.toJson(init), "{\"id\":1,\"op\":\"acquire\",\"key\":\"k\",\"leaseMs\":1000,\"waitMs\":0}",
            "{\"id\":2,\"op\":\"release\",\"hold\":1}");
        System.err.println(told);
      }
    }
  }

  interface Answering {
    String of(String variant, String... requests);
  }

  private static void accept(ServerSocket server) {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        var serving = new Thread(() -> serve(client));
        serving.setDaemon(true);
        serving.start();
      } catch (IOException closed) {
        return;
      }
    }
  }

  /** A server that grants everything, as old as one that a library may meet. */
  private static void serve(Socket client) {
    try (client) {
      var input = new BufferedInputStream(client.getInputStream());
      for (String head = line(input); head != null; head = line(input)) {
        int words = Integer.parseInt(head.substring(1));
        String name = null;
        for (int n = 0; n < words; n++) {
          byte[] word = input.readNBytes(Integer.parseInt(line(input).substring(1)) + 2);
          if (n == 0) name = new String(word, StandardCharsets.UTF_8).trim().toUpperCase();
        }
        String answer =
            switch (name) {
              case "PING" -> "+PONG\r\n";
              case "INFO" -> "$" + INFO.length() + "\r\n" + INFO + "\r\n";
              case "EVAL", "EVALSHA" -> Locks.TAKEN;
              case "DEL" -> ":1\r\n";
              case "HELLO", "DELEX" -> "-ERR unknown command\r\n";
              default -> "+OK\r\n";
            };
        client.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException | RuntimeException ended) {
      // The client has gone.
    }
  }

  private static String line(InputStream input) throws IOException {
    var text = new StringBuilder();
    for (int next = input.read(); next >= 0; next = input.read()) {
      if (next == '\n') return text.toString().trim();
      text.append((char) next);
    }
    return null;
  }

  private WarmUp() {}
}
