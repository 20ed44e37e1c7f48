import com.google.gson.Gson;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** As the one of the other adapters, which it takes the place of: by a ZooKeeper server in this process, on a port of its own. */
final class WarmUp {
  private static final int TICK_MS = 250;

  static void run(List<String> variants, Answering answering) throws Exception {
    Path folder = Files.createTempDirectory("lock-torture-warm-up");
    try {
      var server = new ZooKeeperServer(folder.toFile(), folder.toFile(), TICK_MS);
      var accepting = new NIOServerCnxnFactory();
      accepting.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
      accepting.startup(server);
      var node = Map.of("name", "z1", "host", "127.0.0.1", "port", accepting.getLocalPort());
      var init =
          Map.of(
              "id", 0, "op", "init", "protocol", 2, "topology", Map.of("kind", "zookeeper", "nodes", List.of(node)),
              "options", Map.of("client", "c1", "leaseMs", 4_000, "commandTimeoutMs", 500, "seed", 1));
      for (String variant : variants) {
        var told = answering.of(variant, new Gson().toJson(init), "{\"id\":1,\"op\":\"acquire\",\"key\":\"k\",\"leaseMs\":4000,\"waitMs\":0}",
            "{\"id\":2,\"op\":\"release\",\"hold\":1}");
        System.err.println(told);
      }
      accepting.shutdown();
    } finally {
      try (var left = Files.walk(folder)) {
        left.sorted(java.util.Comparator.reverseOrder()).forEach(one -> one.toFile().delete());
      }
    }
  }

  interface Answering {
    String of(String variant, String... requests);
  }

  private WarmUp() {}
}
