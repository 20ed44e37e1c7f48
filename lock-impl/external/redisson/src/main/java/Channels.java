import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.nio.NioEventLoopGroup;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Sees every byte that Redisson sends, its own retries included: a handler between Redisson and the sockets. Scripts that
 * go out by their hash (EVALSHA) are seen as well as whole ones. It is the group of loops with which Redisson registers every channel of
 * its own, in all its versions; a hook for that came with 3.13.
 */
@SuppressWarnings("deprecation") // what replaces it is not there in older versions
final class Channels extends NioEventLoopGroup {
  /**
   * Every unlock has such a key beside the lock's, which keeps its answer for one that is sent again. Older versions have none; of their
   * scripts only that of an unlock publishes.
   */
  private static final String UNLOCK = "redisson_unlock_latch:";
  private static final String OLD_UNLOCK = "'publish'";

  private final Wire wire;
  private final boolean hasQueue;

  /** `hasQueue`: who is refused is in a queue by that. */
  Channels(Wire wire, boolean hasQueue, int threads) {
    super(threads);
    this.wire = wire;
    this.hasQueue = hasQueue;
  }

  @Override
  public ChannelFuture register(Channel channel) {
    channel.pipeline().addFirst(new Handler());
    return super.register(channel);
  }

  /** Those who wait subscribe to a channel that is named after the key; how often it is held is only read. */
  private static boolean isTry(String text) {
    return !text.contains("SUBSCRIBE") && !text.contains("\r\nHGET\r\n");
  }

  /** A try of a fair lock that is refused is queued by that, unless it is one that never waits: that answers whether it was granted. */
  private static boolean queues(String text) {
    return text.contains("redisson_lock_queue:") && !text.contains(UNLOCK) && !text.contains(OLD_UNLOCK);
  }

  private final class Handler extends ChannelDuplexHandler {
    /** Operations that have no answer yet on this connection, which carries out one command after the other. */
    private final List<Wire.Operation> waiting = new ArrayList<>();
    /** Those among them that a queue takes in if they are refused. */
    private final List<Wire.Operation> queueing = new ArrayList<>();
    /** A renewal that was sent and not yet answered: what it renews, in its order, and when it left. */
    private List<Wire.Holder> renewing = List.of();
    private long renewingNs;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
      if (message instanceof ByteBuf bytes) sending(bytes.toString(StandardCharsets.UTF_8));
      super.write(context, message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
      wire.answered(waiting);
      waiting.clear();
      // Granted is nil; refused, for how long it is held yet.
      if (!queueing.isEmpty() && message instanceof ByteBuf bytes && bytes.isReadable() && bytes.getByte(bytes.readerIndex()) == ':') {
        long atNs = System.nanoTime();
        for (Wire.Operation one : queueing) one.isQueued(atNs);
      }
      queueing.clear();
      if (!renewing.isEmpty() && message instanceof ByteBuf bytes) answered(bytes.toString(StandardCharsets.UTF_8));
      super.channelRead(context, message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      wire.lost(waiting);
      waiting.clear();
      super.channelInactive(context);
    }

    private void sending(String text) {
      long atNs = System.nanoTime();
      boolean isOldUnlock = !text.contains(UNLOCK) && text.contains(OLD_UNLOCK);
      List<Wire.Operation> operations = wire.leaves(text, isTry(text), isOldUnlock || text.contains(UNLOCK));
      if (isOldUnlock) operations.forEach(one -> one.sends(text));
      if (isTry(text)) waiting.addAll(operations);
      if (hasQueue && queues(text)) queueing.addAll(operations);
      if (!operations.isEmpty()) return;
      List<Wire.Holder> named = holdersOf(text);
      if (named.stream().noneMatch(wire::isHeld)) return;
      renewing = named;
      renewingNs = atNs;
    }

    /** The answer to a renewal is a list of ones and zeros, one for each key; older versions renew one key at a time. */
    private void answered(String text) {
      String[] lines = (renewing.size() == 1 && text.startsWith(":") ? "*1\r\n" + text : text).split("\r\n");
      if (lines[0].equals("*" + renewing.size())) {
        for (int n = 0; n < renewing.size() && n + 1 < lines.length; n++) {
          Wire.Holder holder = renewing.get(n);
          if (lines[n + 1].equals(":1") && wire.isHeld(holder)) wire.renewed(Channels.this, holder, renewingNs);
        }
      }
      renewing = List.of();
    }
  }

  /** Of a script for several keys: each key, and the owner that is named in its place after them. */
  private static List<Wire.Holder> holdersOf(String text) {
    String[] lines = text.split("\r\n");
    if (lines.length < 7 || !lines[2].startsWith("EVAL")) return List.of();
    int script = 4; // its text may have lines of its own
    int end = script + 1;
    while (end + 1 < lines.length && !(lines[end].startsWith("$") && lines[end + 1].matches("\\d+"))) end++;
    if (end + 1 >= lines.length) return List.of();
    int count = Integer.parseInt(lines[end + 1]);
    var keys = new ArrayList<String>();
    for (int n = 0; n < count && end + 3 + 2 * n < lines.length; n++) keys.add(lines[end + 3 + 2 * n]);
    var owners = new ArrayList<Long>();
    for (int at = end + 3 + 2 * count; at < lines.length; at += 2) {
      var owner = Wire.OWNER.matcher(lines[at]);
      if (owner.lookingAt()) owners.add(Long.parseLong(owner.group(1)));
    }
    var holders = new ArrayList<Wire.Holder>();
    for (int n = 0; n < keys.size() && keys.size() == owners.size(); n++)
      holders.add(new Wire.Holder(keys.get(n), owners.get(n)));
    return holders;
  }
}
