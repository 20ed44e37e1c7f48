import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.redisson.client.NettyHook;

/**
 * Sees every byte that Redisson sends, its own retries included: a handler between Redisson and the sockets. Scripts that
 * go out by their hash (EVALSHA) are seen as well as whole ones.
 *
 * <p>Several operations may run at once, one of each thread. A command is of the operation whose key it names and whose thread
 * is the owner in it; one that names no owner (a semaphore's) is of all that are about its key.
 */
final class Wire implements NettyHook {
  /** How Redisson names an owner: the client and the thread. */
  private static final Pattern OWNER = Pattern.compile("[0-9a-f]{8}-[0-9a-f-]{27}:(\\d+)");

  /** Every unlock has such a key beside the lock's. */
  private static final String UNLOCK = "redisson_unlock_latch:";

  /** A command that named the key of an operation that runs, and when it left; `returns`: an unlock. */
  private record Sent(long atNs, boolean returns) {}

  /** Hears of renewals that the library makes by itself. */
  @FunctionalInterface
  interface Renewals {
    void renewed(String key, long thread, long sentNs);
  }

  /** A key, and the thread that holds it. */
  private record Holder(String key, long thread) {}

  private final Renewals renewals;
  private final Set<Holder> held = ConcurrentHashMap.newKeySet();
  private final Map<Long, Operation> running = new ConcurrentHashMap<>();

  Wire(Renewals renewals) {
    this.renewals = renewals;
  }

  /** What has become of the commands of one operation. */
  final class Operation {
    private final String key;
    private final long thread;
    private final List<Sent> tries = new ArrayList<>();
    private boolean sent;
    private int unanswered;
    private boolean doubt;
    /** Some of the commands may be another operation's. */
    private boolean mixed;

    private Operation(String key, long thread) {
      this.key = key;
      this.thread = thread;
    }

    boolean sentNothing() {
      synchronized (Wire.this) {
        return !sent;
      }
    }

    /** Whether a command was not answered: its connection ended, or nothing has come by now. */
    boolean inDoubt() {
      synchronized (Wire.this) {
        return doubt || unanswered > 0;
      }
    }

    /** Waits for answers that are on their way, for so long: a lock that is refused may not wait for those of what it gives back. */
    void settle(long ms) throws InterruptedException {
      synchronized (Wire.this) {
        long untilNs = System.nanoTime() + ms * 1_000_000;
        for (long left = ms; left > 0 && !doubt && unanswered > 0; left = (untilNs - System.nanoTime()) / 1_000_000)
          Wire.this.wait(left);
      }
    }

    /**
     * When the granted try left: the last of all. `several`: of a lock that is made of several one try is a command for each of
     * them, and more where one has to be waited for; it begins after what went before was given back, and its first command counts,
     * because a lease runs from there. With a doubt nobody knows which of several was carried out, and the first of all accuses
     * nobody.
     */
    long grantSentNs(boolean several) {
      synchronized (Wire.this) {
        if (tries.isEmpty()) throw new IllegalStateException("granted without a command that names the key");
        if (inDoubt() || mixed) return tries.get(0).atNs;
        int last = tries.size() - 1;
        if (!several) return tries.get(last).atNs;
        int from = last;
        while (from > 0 && !tries.get(from - 1).returns) from--;
        return tries.get(from).atNs;
      }
    }

    /** It is over, and its key is held: from now on renewals are told. */
    void granted() {
      held.add(new Holder(key, thread));
      over();
    }

    void over() {
      running.remove(thread, this);
    }
  }

  /** Starts an operation of this thread on a key; renewals of what it holds by that name are told no more. */
  Operation begin(String key) {
    long thread = Thread.currentThread().getId();
    var operation = new Operation(key, thread);
    held.remove(new Holder(key, thread));
    running.put(thread, operation);
    return operation;
  }

  /** The operations whose command that is. */
  private List<Operation> of(String text) {
    var naming = running.values().stream().filter(one -> text.contains(one.key)).toList();
    if (naming.isEmpty()) return naming;
    Set<Long> owners = ownersIn(text);
    return owners.isEmpty() ? naming : naming.stream().filter(one -> owners.contains(one.thread)).toList();
  }

  private static Set<Long> ownersIn(String text) {
    var owners = new HashSet<Long>();
    for (var found = OWNER.matcher(text); found.find(); ) owners.add(Long.parseLong(found.group(1)));
    return owners;
  }

  /** Those who wait subscribe to a channel that is named after the key. */
  private static boolean isNoTry(String text) {
    return text.contains("SUBSCRIBE");
  }

  @Override
  public void afterBoostrapInitialization(Bootstrap bootstrap) {}

  @Override
  public void afterChannelInitialization(Channel channel) {
    channel.pipeline().addFirst(new Handler());
  }

  private final class Handler extends ChannelDuplexHandler {
    /** Operations that have no answer yet on this connection, which carries out one command after the other. */
    private final List<Operation> waiting = new ArrayList<>();
    /** A renewal that was sent and not yet answered: what it renews, in its order, and when it left. */
    private List<Holder> renewing = List.of();
    private long renewingNs;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
      if (message instanceof ByteBuf bytes) sending(bytes);
      super.write(context, message, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
      synchronized (Wire.this) {
        for (Operation one : waiting) one.unanswered--;
        waiting.clear();
        Wire.this.notifyAll();
      }
      if (!renewing.isEmpty() && message instanceof ByteBuf bytes) answered(bytes.toString(StandardCharsets.UTF_8));
      super.channelRead(context, message);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      synchronized (Wire.this) {
        for (Operation one : waiting) one.doubt = true;
        waiting.clear();
        Wire.this.notifyAll();
      }
      super.channelInactive(context);
    }

    private void sending(ByteBuf bytes) {
      long atNs = System.nanoTime();
      String text = bytes.toString(StandardCharsets.UTF_8);
      synchronized (Wire.this) {
        List<Operation> operations = of(text);
        for (Operation one : operations) {
          one.sent = true;
          if (isNoTry(text)) continue;
          one.tries.add(new Sent(atNs, text.contains(UNLOCK)));
          one.mixed |= operations.size() > 1;
          one.unanswered++;
          waiting.add(one);
        }
        if (!operations.isEmpty()) return;
      }
      List<Holder> named = holdersOf(text);
      if (named.stream().noneMatch(held::contains)) return;
      renewing = named;
      renewingNs = atNs;
    }

    /** The answer to a renewal is a list of ones and zeros, one for each key. */
    private void answered(String text) {
      String[] lines = text.split("\r\n");
      if (lines[0].equals("*" + renewing.size())) {
        for (int n = 0; n < renewing.size() && n + 1 < lines.length; n++) {
          Holder holder = renewing.get(n);
          if (lines[n + 1].equals(":1") && held.contains(holder))
            renewals.renewed(holder.key(), holder.thread(), renewingNs);
        }
      }
      renewing = List.of();
    }
  }

  /** Of a script for several keys: each key, and the owner that is named in its place after them. */
  private static List<Holder> holdersOf(String text) {
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
      var owner = OWNER.matcher(lines[at]);
      if (owner.lookingAt()) owners.add(Long.parseLong(owner.group(1)));
    }
    var holders = new ArrayList<Holder>();
    for (int n = 0; n < keys.size() && keys.size() == owners.size(); n++)
      holders.add(new Holder(keys.get(n), owners.get(n)));
    return holders;
  }
}
