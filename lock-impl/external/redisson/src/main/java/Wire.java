import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.redisson.client.NettyHook;

/**
 * Sees every byte that Redisson sends, its own retries included: a handler between Redisson and the sockets. Scripts that
 * go out by their hash (EVALSHA) are seen as well as whole ones.
 */
final class Wire implements NettyHook {
  /** A command that named the key of the operation that runs, and when it left. */
  private record Sent(long atNs, String node, String text) {}

  /** Hears of renewals that the library makes by itself. */
  @FunctionalInterface
  interface Renewals {
    void renewed(String key, long sentNs);
  }

  private String key;
  /** Keys that are held: what names one of them, and belongs to no operation, renews it. */
  private final Set<String> held = ConcurrentHashMap.newKeySet();
  private final Renewals renewals;
  private final List<Sent> sends = new ArrayList<>();
  private final List<Handler> handlers = new ArrayList<>();
  private boolean doubt;

  Wire(Renewals renewals) {
    this.renewals = renewals;
  }

  /** The operation is over, and its key is held: from now on its renewals are told. */
  synchronized void granted() {
    held.add(key);
    key = null;
  }

  /** Starts an operation on a key; what came before it is forgotten, and renewals of that key are told no more. */
  synchronized void begin(String name) {
    key = name;
    held.remove(name);
    sends.clear();
    doubt = false;
    for (Handler handler : handlers) handler.unanswered = 0;
  }

  synchronized boolean sentNothing() {
    return sends.isEmpty();
  }

  /** Whether a command that named the key was not answered: its connection ended, or nothing has come by now. */
  synchronized boolean inDoubt() {
    return doubt || handlers.stream().anyMatch(handler -> handler.unanswered > 0);
  }

  /** Waits for answers that are on their way, for so long: a lock that is refused may not wait for those of what it gives back. */
  synchronized void settle(long ms) throws InterruptedException {
    long untilNs = System.nanoTime() + ms * 1_000_000;
    for (long left = ms; left > 0 && !doubt && inDoubt(); left = (untilNs - System.nanoTime()) / 1_000_000) wait(left);
  }

  /**
   * When the granted try left. `parts` is how many commands one try is on each of the servers that were asked: of each the
   * earliest of its last so many, and of these the earliest, because its lease runs from there. With a doubt nobody knows
   * which of several was carried out, and the first of all accuses nobody.
   */
  synchronized long grantSentNs(int parts) {
    List<Sent> tries = sends.stream().filter(one -> !isNoTry(one.text)).toList();
    if (tries.isEmpty()) throw new IllegalStateException("granted without a command that names the key");
    if (inDoubt()) return tries.get(0).atNs;
    return tries.stream()
        .collect(Collectors.groupingBy(Sent::node))
        .values()
        .stream()
        .mapToLong(ofNode -> ofNode.get(Math.max(0, ofNode.size() - parts)).atNs)
        .min()
        .getAsLong();
  }

  /** Those who wait subscribe to a channel that is named after the key. */
  private static boolean isNoTry(String text) {
    return text.contains("SUBSCRIBE");
  }

  @Override
  public void afterBoostrapInitialization(Bootstrap bootstrap) {}

  @Override
  public void afterChannelInitialization(Channel channel) {
    Handler handler = new Handler();
    synchronized (this) {
      handlers.add(handler);
    }
    channel.pipeline().addFirst(handler);
  }

  private final class Handler extends ChannelDuplexHandler {
    private int unanswered;
    /** A renewal that was sent and not yet answered: the keys, and when it left. */
    private List<String> renewing = List.of();
    private long renewingNs;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
      if (message instanceof ByteBuf bytes) sending(bytes, String.valueOf(context.channel().remoteAddress()));
      super.write(context, message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
      synchronized (Wire.this) {
        unanswered = Math.max(0, unanswered - 1);
        Wire.this.notifyAll();
      }
      if (!renewing.isEmpty() && message instanceof ByteBuf bytes) answered(bytes.toString(StandardCharsets.UTF_8));
      super.channelRead(context, message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      synchronized (Wire.this) {
        if (unanswered > 0) doubt = true;
        handlers.remove(this);
      }
      super.channelInactive(context);
    }

    private void sending(ByteBuf bytes, String node) {
      long atNs = System.nanoTime();
      String text = bytes.toString(StandardCharsets.UTF_8);
      synchronized (Wire.this) {
        if (key != null && text.contains(key)) {
          sends.add(new Sent(atNs, node, text));
          if (!isNoTry(text)) unanswered++;
          return;
        }
      }
      List<String> named = keysOf(text);
      if (held.stream().noneMatch(named::contains)) return;
      renewing = named;
      renewingNs = atNs;
    }

    /** The answer to a renewal is a list of ones and zeros, one for each key. */
    private void answered(String text) {
      String[] lines = text.split("\r\n");
      if (lines[0].equals("*" + renewing.size())) {
        for (int n = 0; n < renewing.size() && n + 1 < lines.length; n++) {
          String name = renewing.get(n);
          if (lines[n + 1].equals(":1") && held.contains(name)) renewals.renewed(name, renewingNs);
        }
      }
      renewing = List.of();
    }
  }

  /** The keys of a script, by what was sent: the number of keys comes after the script or its hash. */
  private static List<String> keysOf(String text) {
    String[] lines = text.split("\r\n");
    if (lines.length < 7 || !lines[2].startsWith("EVAL")) return List.of();
    int script = 4; // its text may have lines of its own
    int end = script + 1;
    while (end + 1 < lines.length && !(lines[end].startsWith("$") && lines[end + 1].matches("\\d+"))) end++;
    if (end + 1 >= lines.length) return List.of();
    var keys = new ArrayList<String>();
    int count = Integer.parseInt(lines[end + 1]);
    for (int n = 0; n < count && end + 3 + 2 * n < lines.length; n++) keys.add(lines[end + 3 + 2 * n]);
    return keys;
  }
}
