import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the lock protects, on a server of its own: one question a line, one answer a line, nothing sent twice. One caller asks at a
 * time. After an answer that did not come in time the connection is another one, for it may come yet.
 */
final class Resource {
  private final InetSocketAddress address;
  private final int timeoutMs;
  private Socket socket;
  private BufferedReader answers;

  Resource(JsonObject at, int timeoutMs) {
    address = new InetSocketAddress(at.get("host").getAsString(), at.get("port").getAsInt());
    this.timeoutMs = timeoutMs;
  }

  /** `token` and `value` may be null. Throws Refused with the refusal, IOException where it cannot be told what became of it. */
  synchronized Map<String, Object> ask(int id, String operation, String key, Long token, Long value)
      throws IOException, Refused {
    var question = new LinkedHashMap<String, Object>();
    question.put("id", id);
    question.put("op", operation);
    question.put("key", key);
    if (value != null) question.put("value", value);
    if (token != null) question.put("token", token);
    connect();
    JsonObject answer;
    try {
      socket.getOutputStream().write((GSON.toJson(question) + "\n").getBytes(StandardCharsets.UTF_8));
      String line = answers.readLine();
      if (line == null) throw new IOException("the connection to the resource was lost");
      answer = GSON.fromJson(line, JsonObject.class);
    } catch (IOException error) {
      close();
      throw error;
    }
    if (answer.has("refused")) throw new Refused(answer.get("refused").getAsString());
    var said = new LinkedHashMap<String, Object>();
    if (answer.has("value")) said.put("value", answer.get("value").getAsLong());
    said.put("version", answer.get("version").getAsLong());
    return said;
  }

  /** What was not sent certainly did not happen. */
  private void connect() throws Refused {
    if (socket != null) return;
    var fresh = new Socket();
    try {
      fresh.connect(address, timeoutMs);
      fresh.setTcpNoDelay(true);
      fresh.setSoTimeout(timeoutMs);
      answers = new BufferedReader(new InputStreamReader(fresh.getInputStream(), StandardCharsets.UTF_8));
      socket = fresh;
    } catch (IOException error) {
      close(fresh);
      throw new Refused("unreachable: " + error.getMessage());
    }
  }

  private void close() {
    close(socket);
    socket = null;
  }

  private static void close(Socket one) {
    try {
      one.close();
    } catch (IOException ignored) {
      // It is gone either way.
    }
  }

  private static final Gson GSON = new Gson();
}
