import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ListenedSocket;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Stat;

/**
 * What became of the requests of all sessions of this process: by attempt, the node that it made, and by session, when what a
 * server last had of it had left. Its own monitor guards all of it; who was answered, and takes that, finds it told.
 */
final class Requests implements ListenedSocket.Listener {
  private static final int SEQUENCE_DIGITS = 10;

  /** One acquire. What it stores names its owner, and no other stores the same. */
  static final class Attempt {
    final String owner;
    /** When the first request for its node left; 0: none has. */
    private long firstSentNs;
    private Made made;
    private boolean isGone;
    private int unanswered;
    private boolean doubt;

    private Attempt(String owner) {
      this.owner = owner;
    }
  }

  /** A node, the change that made it, the session that it goes with, and when what made it left. */
  record Made(String path, long czxid, long session, long sentNs) {}

  private final Wire wire;
  private final BiConsumer<Long, Long> alive;
  private final Map<String, Attempt> byOwner = new HashMap<>();
  /** By their nodes' names without what the server numbers. */
  private final Map<String, Attempt> byName = new HashMap<>();
  private final Map<Long, Long> lastSentNs = new HashMap<>();

  /** `alive` is told of every session that a server has heard of, and since when, under this monitor. */
  Requests(Wire wire, BiConsumer<Long, Long> alive) {
    this.wire = wire;
    this.alive = alive;
  }

  synchronized Attempt begin(String owner) {
    var attempt = new Attempt(owner);
    byOwner.put(owner, attempt);
    return attempt;
  }

  /** It is over: whatever is heard of it from now on is of no use to anybody. */
  synchronized void forget(Attempt attempt) {
    byOwner.remove(attempt.owner);
    byName.values().remove(attempt);
  }

  /** Null: the answer that told of it was lost. */
  synchronized Made madeBy(Attempt attempt) {
    return attempt.made;
  }

  synchronized long firstSentNs(Attempt attempt) {
    return attempt.firstSentNs;
  }

  /** Whether no node of its can be there, or come to be: of requests that were carried to their end, not of interrupted ones. */
  synchronized boolean leftNothing(Attempt attempt) {
    return !attempt.doubt && attempt.unanswered == 0 && (attempt.made == null || attempt.isGone);
  }

  /** When the last that a server had of the session had left; 0: nothing. */
  synchronized long lastSentNs(long session) {
    return lastSentNs.getOrDefault(session, 0L);
  }

  @Override
  public ListenedSocket.Fate leaves(int type, String path, byte[] data) {
    if (path == null) return NOBODYS;
    boolean makes = type == OpCode.create2 && data != null && byOwner.containsKey(text(data));
    if (makes) byName.put(path, byOwner.get(text(data)));
    Attempt attempt = byName.get(makes ? path : withoutNumber(path));
    boolean isTry = attempt != null && (makes || type == OpCode.delete);
    List<Wire.Operation> operations = wire.leaves(attempt == null ? path : path + " " + attempt.owner, isTry, false);
    if (!isTry) return NOBODYS;
    long atNs = System.nanoTime();
    if (makes) {
      attempt.unanswered++;
      if (attempt.firstSentNs == 0) attempt.firstSentNs = atNs;
    }
    return new Trying(attempt, makes, atNs, operations);
  }

  @Override
  public void heard(long session, long sentNs) {
    long last = Math.max(lastSentNs(session), sentNs);
    lastSentNs.put(session, last);
    alive.accept(session, last);
  }

  private static String text(byte[] data) {
    return new String(data, StandardCharsets.UTF_8);
  }

  private static String withoutNumber(String path) {
    return path.substring(0, Math.max(0, path.length() - SEQUENCE_DIGITS));
  }

  /** A request to make a node, or to delete it. */
  private final class Trying implements ListenedSocket.Fate {
    private final Attempt attempt;
    private final boolean makes;
    private final long sentNs;
    private final List<Wire.Operation> operations;

    Trying(Attempt attempt, boolean makes, long sentNs, List<Wire.Operation> operations) {
      this.attempt = attempt;
      this.makes = makes;
      this.sentNs = sentNs;
      this.operations = operations;
    }

    @Override
    public void answered(long session, int error, String path, Stat stat) {
      wire.answered(operations);
      if (makes) {
        attempt.unanswered--;
        if (error == 0) attempt.made = new Made(path, stat.getCzxid(), session, sentNs);
      } else if (error == 0 || error == Code.NONODE.intValue()) {
        attempt.isGone = true;
      }
    }

    @Override
    public void lost() {
      wire.lost(operations);
      if (!makes) return;
      attempt.unanswered--;
      attempt.doubt = true;
    }
  }

  /** What grants nothing, and gives nothing back. */
  private static final ListenedSocket.Fate NOBODYS =
      new ListenedSocket.Fate() {
        @Override
        public void answered(long session, int error, String path, Stat stat) {}

        @Override
        public void lost() {}
      };
}
