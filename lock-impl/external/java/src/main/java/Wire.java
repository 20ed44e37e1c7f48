import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * What has become of the commands of running operations: when each left, and whether it was answered. A handler in the library's
 * channels tells it every command that is sent, the library's own retries and scripts that go by their hash included.
 *
 * <p>Several operations may run at once, one of each thread. A command is of the operation whose key it names and whose thread
 * is the owner in it; one that names no owner by its thread is of all that are about its key.
 */
final class Wire {
  /** How Redisson names an owner: the client and the thread. */
  static final Pattern OWNER = Pattern.compile("[0-9a-f]{8}-[0-9a-f-]{27}:(\\d+)");

  /** A command that named the key of an operation that runs, and when it left; `returns`: an unlock. */
  private record Sent(long atNs, boolean returns) {}

  /** Hears of renewals that the library makes by itself. */
  @FunctionalInterface
  interface Renewals {
    void renewed(String key, long thread, long sentNs);
  }

  /** Hears that the operation of a thread is in a queue now. */
  @FunctionalInterface
  interface Queueing {
    void queued(long thread, long atNs);
  }

  /** A key, and the thread that holds it. */
  record Holder(String key, long thread) {}

  final Renewals renewals;
  final Queueing queueing;
  private final Set<Holder> held = ConcurrentHashMap.newKeySet();
  /** By what is held, when the last renewal on each server left that carried it out. */
  private final Map<Holder, Map<Object, Long>> renewedOn = new ConcurrentHashMap<>();
  /** On how many servers a lock is to be renewed before it counts as renewed. */
  private volatile int serversNeeded = 1;
  private final Map<Long, Operation> running = new ConcurrentHashMap<>();

  Wire(Renewals renewals, Queueing queueing) {
    this.renewals = renewals;
    this.queueing = queueing;
  }

  /** What has become of the commands of one operation. */
  final class Operation {
    private final String key;
    private final long thread;
    private final List<Sent> tries = new ArrayList<>();
    private final Set<String> once = new HashSet<>();
    private boolean sent;
    private boolean queued;
    private int unanswered;
    private boolean doubt;
    /** Some of the commands may be another operation's. */
    private boolean mixed;

    private Operation(String key, long thread) {
      this.key = key;
      this.thread = thread;
    }

    /**
     * A command that does not remember what came of it before. Sent twice, its second answer may be the echo of the first, and that it
     * is heard says nothing, whether the first was answered by then or not.
     */
    void sends(String text) {
      synchronized (Wire.this) {
        doubt |= !once.add(text);
      }
    }

    /** An answer says that a queue has it; told once. */
    void isQueued(long atNs) {
      synchronized (Wire.this) {
        if (queued) return;
        queued = true;
      }
      queueing.queued(thread, atNs);
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
     * When the try left that was carried out: the last of all. `several`: of a lock that is made of several one try is a command
     * for each of them, and more where one has to be waited for; it begins after what went before was given back, and its first
     * command counts, because a lease runs from there. With a doubt nobody knows which of several was carried out, and the first
     * of all accuses nobody.
     */
    long sentNs(boolean several) {
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
    renewedOn.remove(new Holder(key, thread));
    running.put(thread, operation);
    return operation;
  }

  /** That thread holds the key still, by an earlier grant than the one that was given back. */
  void stillHeld(String key, long thread) {
    held.add(new Holder(key, thread));
  }

  boolean isHeld(Holder holder) {
    return held.contains(holder);
  }

  /** A lock that is made of one on each server is held for as long as so many of them keep it. */
  void needs(int servers) {
    serversNeeded = servers;
  }

  /** A server carried a renewal out that was sent then; told where enough of them have, as sent when the first of those was. */
  void renewed(Object server, Holder holder, long sentNs) {
    long sinceNs;
    synchronized (this) {
      Map<Object, Long> on = renewedOn.computeIfAbsent(holder, any -> new HashMap<>());
      on.put(server, sentNs);
      if (on.size() < serversNeeded) return;
      sinceNs = on.values().stream().sorted(Comparator.reverseOrder()).toList().get(serversNeeded - 1);
    }
    renewals.renewed(holder.key(), holder.thread(), sinceNs);
  }

  /**
   * A command leaves, as it is written on the wire. Returns the operations that it is of, each of which waits for an answer to it
   * unless `isTry` is false: it cannot be what grants. `returns`: it gives back what was taken.
   */
  synchronized List<Operation> leaves(String text, boolean isTry, boolean returns) {
    long atNs = System.nanoTime();
    List<Operation> operations = of(text);
    for (Operation one : operations) {
      one.sent = true;
      if (!isTry) continue;
      one.tries.add(new Sent(atNs, returns));
      one.mixed |= operations.size() > 1;
      one.unanswered++;
    }
    return operations;
  }

  /** One command of each was answered. */
  synchronized void answered(List<Operation> operations) {
    for (Operation one : operations) one.unanswered--;
    notifyAll();
  }

  /** One command of each will never be answered. */
  synchronized void lost(List<Operation> operations) {
    for (Operation one : operations) one.doubt = true;
    notifyAll();
  }

  /** What this thread's operation was about is left to the library, which may send more for it later. */
  synchronized void mayLeaveYet() {
    Operation running = this.running.get(Thread.currentThread().getId());
    if (running == null) return;
    running.sent = true;
    running.doubt = true;
  }

  private List<Operation> of(String text) {
    var naming = running.values().stream().filter(one -> names(text, one.key)).toList();
    if (naming.isEmpty()) return naming;
    Set<Long> owners = ownersIn(text);
    return owners.isEmpty() ? naming : naming.stream().filter(one -> owners.contains(one.thread)).toList();
  }

  /** Libraries keep a key under longer names; `lock:1` is not in `lock:10`. */
  private static boolean names(String text, String key) {
    for (int at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
      int end = at + key.length();
      if (end == text.length() || !Character.isLetterOrDigit(text.charAt(end))) return true;
    }
    return false;
  }

  private static Set<Long> ownersIn(String text) {
    var owners = new HashSet<Long>();
    for (var found = OWNER.matcher(text); found.find(); ) owners.add(Long.parseLong(found.group(1)));
    return owners;
  }
}
