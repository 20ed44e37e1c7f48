import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.redisson.client.NettyHook;

/**
 * Sees every byte that Redisson sends, its own retries included: a handler between Redisson and the sockets. Scripts that
 * go out by their hash (EVALSHA) are seen as well as whole ones.
 */
final class Wire implements NettyHook {
  /** A command that named the key of the operation that runs, and when it left. */
  private record Sent(long atNs, String text) {}

  private byte[] key;
  private final List<Sent> sends = new ArrayList<>();
  private final List<Handler> handlers = new ArrayList<>();
  private boolean doubt;

  /** Starts an operation on a key; what came before it is forgotten. */
  synchronized void begin(String name) {
    key = name.getBytes(StandardCharsets.UTF_8);
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

  /**
   * When the granted try left. `parts` is how many commands one try is at most; the earliest of the last so many. With a
   * doubt nobody knows which of several was carried out, and the first of all accuses nobody.
   */
  synchronized long grantSentNs(int parts) {
    List<Long> tries = sends.stream().filter(one -> !isNoTry(one.text)).map(Sent::atNs).toList();
    if (tries.isEmpty()) throw new IllegalStateException("granted without a command that names the key");
    return tries.get(inDoubt() ? 0 : Math.max(0, tries.size() - parts));
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

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
      if (message instanceof ByteBuf bytes) sending(bytes);
      super.write(context, message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
      synchronized (Wire.this) {
        unanswered = Math.max(0, unanswered - 1);
      }
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

    private void sending(ByteBuf bytes) {
      long atNs = System.nanoTime();
      synchronized (Wire.this) {
        if (key == null) return;
        String text = bytes.toString(StandardCharsets.UTF_8);
        if (!text.contains(new String(key, StandardCharsets.UTF_8))) return;
        sends.add(new Sent(atNs, text));
        if (!isNoTry(text)) unanswered++;
      }
    }
  }
}
