import java.util.HashSet;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.data.Stat;

/**
 * A client of Curator, its sessions one after the other, and what is held by them.
 *
 * <p>A hold is told lost at SUSPENDED, when Curator says that nobody can be certain of it any more, and not only at LOST. Its lease
 * runs for two thirds of the session from the last request, pings among them, that a server has answered: after that long without
 * an answer ZooKeeper's client takes its own connection for lost, and a server that is cut off from the others answers pings
 * by itself until it notices.
 */
final class Sessions {
  /** Renewals are told when the lease moves by this part of it. */
  private static final int TOLD_PART = 10;

  private final long leaseMs;
  /** What of a session is not counted, after an answer. */
  private final long uncountedNs;
  private final Set<Hold> holds = new HashSet<>();
  CuratorFramework curator;
  /** Its monitor guards the holds. */
  Requests requests;
  private ConnectionState state = ConnectionState.LOST;
  /** How often it was suspended or lost. */
  private int breaks;

  Sessions(long leaseMs) {
    this.leaseMs = leaseMs;
    this.uncountedNs = leaseMs * 1_000_000 / 3;
  }

  void by(CuratorFramework curator, Requests requests) {
    this.curator = curator;
    this.requests = requests;
    curator.getConnectionStateListenable().addListener((client, next) -> changed(next));
  }

  private void changed(ConnectionState next) {
    synchronized (requests) {
      state = next;
      if (next.isConnected()) return;
      breaks++;
      for (Hold hold : Set.copyOf(holds)) hold.lose(next.name());
    }
  }

  /** Under the monitor of the requests. */
  void heard(long session, long sentNs) {
    for (Hold hold : holds) if (hold.session == session) hold.lasts(sentNs - uncountedNs);
  }

  /** What a mutex of the calling thread was granted. */
  Library.Granted granted(Locks.Owned mutex, Requests.Attempt attempt, Wire wire) {
    Requests.Made made = made(mutex, attempt);
    int before = breaks();
    // Not under the monitor: Curator may be closing a client, which waits for a socket that wants it.
    long session = session();
    synchronized (requests) {
      long fromNs = Math.max(made.sentNs(), requests.lastSentNs(made.session()) - uncountedNs);
      var hold = new Hold(mutex, attempt, made.session(), fromNs, wire);
      holds.add(hold);
      if (!state.isConnected() || breaks != before) hold.lose(ConnectionState.SUSPENDED.name());
      else if (made.session() != session) hold.lose("another session");
      return new Library.Granted(hold, made.czxid() == 0 ? null : made.czxid(), fromNs);
    }
  }

  /** Where the answer was lost Curator has found the node by its name, and the server is asked for it. */
  private Requests.Made made(Locks.Owned mutex, Requests.Attempt attempt) {
    String path = mutex.path();
    Requests.Made made = requests.madeBy(attempt);
    if (made != null && made.path().equals(path)) return made;
    long sentNs = requests.firstSentNs(attempt);
    try {
      Stat stat = curator.checkExists().forPath(path);
      if (stat != null) return new Requests.Made(path, stat.getCzxid(), stat.getEphemeralOwner(), sentNs);
    } catch (Exception unasked) {
      System.err.println("no token: " + unasked);
    }
    return new Requests.Made(path, 0, 0, sentNs);
  }

  private int breaks() {
    synchronized (requests) {
      return breaks;
    }
  }

  private long session() {
    try {
      return curator.getZookeeperClient().getZooKeeper().getSessionId();
    } catch (Exception none) {
      return 0;
    }
  }

  private final class Hold implements Library.Holding {
    private final Locks.Owned mutex;
    private final Requests.Attempt attempt;
    private final long session;
    private final Wire wire;
    private long leaseFromNs;
    private Library.Telling telling;
    private long lostNs;
    private String why;

    Hold(Locks.Owned mutex, Requests.Attempt attempt, long session, long leaseFromNs, Wire wire) {
      this.mutex = mutex;
      this.attempt = attempt;
      this.session = session;
      this.leaseFromNs = leaseFromNs;
      this.wire = wire;
    }

    @Override
    public void tells(Library.Telling telling) {
      synchronized (requests) {
        this.telling = telling;
        if (why != null) telling.lost(lostNs, why);
      }
    }

    void lasts(long fromNs) {
      if (telling == null || fromNs - leaseFromNs < leaseMs * 1_000_000 / TOLD_PART) return;
      leaseFromNs = fromNs;
      telling.renewed(fromNs, leaseMs);
    }

    void lose(String why) {
      holds.remove(this);
      lostNs = System.nanoTime();
      this.why = why;
      if (telling != null) telling.lost(lostNs, why);
    }

    /** Of one that had gone with its session Curator says nothing; who was told that it was lost knows better. */
    @Override
    public boolean giveBack() throws Exception {
      synchronized (requests) {
        holds.remove(this);
      }
      try {
        mutex.release();
        synchronized (requests) {
          return why == null;
        }
      } catch (Exception error) {
        wire.mayLeaveYet(); // it is deleted in the background once there is a connection
        throw error;
      } finally {
        requests.forget(attempt);
      }
    }
  }
}
