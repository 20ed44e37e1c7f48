import com.google.gson.Gson;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.ConnectResponse;
import org.apache.zookeeper.proto.Create2Response;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.GetChildren2Response;
import org.apache.zookeeper.proto.GetDataResponse;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;

/** As that of the other adapters, whose place it takes, with a server that knows what a mutex asks of ZooKeeper. */
final class WarmUp {
  /** A session that outlives whatever else the machine has to do. */
  private static final int LEASE_MS = 60_000;
  private static final byte[] PASSWORD = new byte[16];

  static void run(List<String> variants, Answering answering) throws IOException {
    try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Aside.start(() -> accept(server));
      var node = Map.of("name", "z1", "host", "127.0.0.1", "port", server.getLocalPort());
      var init =
          Map.of(
              "id", 0, "op", "init", "protocol", 2, "topology", Map.of("kind", "zookeeper", "nodes", List.of(node)),
              "options", Map.of("client", "c1", "leaseMs", LEASE_MS, "commandTimeoutMs", 500, "seed", 1));
      var gson = new Gson();
      for (String variant : variants) {
        var told = answering.of(variant, gson.toJson(init), "{\"id\":1,\"op\":\"acquire\",\"key\":\"k\",\"leaseMs\":60000,\"waitMs\":0}",
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
        Aside.start(() -> serve(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  /** Keeps the nodes of one queue, and answers everything else with nothing. */
  private static void serve(Socket client) {
    var queue = new CopyOnWriteArrayList<String>();
    var number = new AtomicInteger();
    try (client) {
      var input = new DataInputStream(client.getInputStream());
      var output = new DataOutputStream(client.getOutputStream());
      input.readInt();
      var connect = new ConnectRequest();
      connect.deserialize(BinaryInputArchive.getArchive(input), "");
      answer(output, new ConnectResponse(0, connect.getTimeOut(), 1, PASSWORD, false));
      for (int length = input.readInt(); ; length = input.readInt()) {
        var body = new ByteArrayInputStream(input.readNBytes(length));
        var archive = BinaryInputArchive.getArchive(body);
        var header = new RequestHeader();
        header.deserialize(archive, "");
        Record found = answerTo(header.getType(), archive, queue, number);
        answer(output, new ReplyHeader(header.getXid(), number.get(), 0), found);
        if (header.getType() == OpCode.closeSession) return;
      }
    } catch (IOException | RuntimeException ended) {
      // The client has gone.
    }
  }

  private static Record answerTo(int type, BinaryInputArchive asked, List<String> queue, AtomicInteger number)
      throws IOException {
    switch (type) {
      case OpCode.create2, OpCode.createContainer -> {
        var create = new CreateRequest();
        create.deserialize(asked, "");
        if (type == OpCode.createContainer) return new Create2Response(create.getPath(), new Stat());
        String path = create.getPath() + String.format("%010d", number.incrementAndGet());
        queue.add(path);
        return new Create2Response(path, new Stat());
      }
      case OpCode.delete -> {
        var delete = new DeleteRequest();
        delete.deserialize(asked, "");
        queue.remove(delete.getPath());
        return null;
      }
      case OpCode.getChildren2 -> {
        var names = queue.stream().map(path -> path.substring(path.lastIndexOf('/') + 1)).toList();
        return new GetChildren2Response(names, new Stat());
      }
      case OpCode.getData -> {
        return new GetDataResponse(new byte[0], new Stat());
      }
      default -> {
        return null;
      }
    }
  }

  private static void answer(DataOutputStream output, Record... records) throws IOException {
    var bytes = new ByteArrayOutputStream();
    for (Record one : records) if (one != null) one.serialize(BinaryOutputArchive.getArchive(bytes), "");
    output.writeInt(bytes.size());
    bytes.writeTo(output);
    output.flush();
  }

  private WarmUp() {}
}
