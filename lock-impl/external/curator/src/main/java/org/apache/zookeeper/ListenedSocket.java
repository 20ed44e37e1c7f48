package org.apache.zookeeper;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.Create2Response;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.GetChildrenRequest;
import org.apache.zookeeper.proto.GetDataRequest;

/**
 * The socket of ZooKeeper's own client, which tells what leaves it and what is answered: its pings too, and whatever Curator sends
 * again. In this package because the client has no other way in: what it names here is open to its own package only.
 *
 * <p>Who listens is held as a monitor from before a request is written, or an answer read, until the listener was told of it: who
 * has an answer and takes that monitor finds the listener told.
 */
public final class ListenedSocket extends ClientCnxnSocketNIO {
  /** Is told under its own monitor, by the thread of a client's connection. */
  public interface Listener {
    /** It is about to be written. `path` and `data` are null where it has none. */
    Fate leaves(int type, String path, byte[] data);

    /** The server that has the session had what left the client then; a session that was opened, or taken up again, counts. */
    void heard(long session, long sentNs);
  }

  /** What becomes of one request. */
  public interface Fate {
    /** `error` 0: it was carried out. `path` and `stat` are of what was made; null where nothing was. */
    void answered(long session, int error, String path, Stat stat);

    /** Its connection ended before an answer. */
    void lost();
  }

  /** Settings of a client whose sockets tell that listener. */
  public static ZKClientConfig settingsFor(Listener listener) {
    return new Settings(listener);
  }

  private static final class Settings extends ZKClientConfig {
    final Listener listener;

    Settings(Listener listener) {
      this.listener = listener;
      setProperty(ZOOKEEPER_CLIENT_CNXN_SOCKET, ListenedSocket.class.getName());
    }
  }

  private record Sent(ClientCnxn.Packet packet, long atNs, Fate fate) {}

  private static final int PING_XID = -2;

  private final Listener listener;
  private final ArrayDeque<Sent> unanswered = new ArrayDeque<>();
  private long connectNs;
  private ByteBuffer answer;
  /** The client also says that it has sent a ping when it has only queued it. */
  private boolean isWriting;

  ListenedSocket(ZKClientConfig settings) throws IOException {
    super(settings);
    listener = ((Settings) settings).listener;
  }

  @Override
  void doIO(Queue<ClientCnxn.Packet> pending, ClientCnxn client) throws InterruptedException, IOException {
    synchronized (listener) {
      isWriting = true;
      try {
        super.doIO(pending, client);
      } finally {
        isWriting = false;
      }
    }
  }

  /** Right before the first packet of the queue is written, or the rest of it. */
  @Override
  void updateLastSend() {
    super.updateLastSend();
    ClientCnxn.Packet packet = outgoingQueue.peekFirst();
    if (!isWriting || packet == null || packet.bb != null) return;
    long atNs = System.nanoTime();
    if (packet.requestHeader == null) connectNs = atNs;
    else unanswered.add(new Sent(packet, atNs, fateOf(packet)));
  }

  private Fate fateOf(ClientCnxn.Packet packet) {
    int type = packet.requestHeader.getType();
    if (packet.request instanceof CreateRequest create) return listener.leaves(type, create.getPath(), create.getData());
    if (packet.request instanceof DeleteRequest delete) return listener.leaves(type, delete.getPath(), null);
    if (packet.request instanceof GetChildrenRequest asked) return listener.leaves(type, asked.getPath(), null);
    if (packet.request instanceof GetDataRequest asked) return listener.leaves(type, asked.getPath(), null);
    return listener.leaves(type, packet.serverPath, null);
  }

  @Override
  void readLength() throws IOException {
    super.readLength();
    answer = incomingBuffer;
  }

  /** Right after an answer was read, or what a server says to a client that connects; a session that is over is not heard of. */
  @Override
  void updateLastHeard() {
    super.updateLastHeard();
    if (!isWriting) return;
    if (!initialized) {
      listener.heard(sessionId, connectNs);
      return;
    }
    int xid = answer.getInt(0);
    // Answers come in the order of requests, but those to pings, which overtake; events of watches answer nothing.
    Sent sent = unanswered.stream().filter(one -> one.packet.requestHeader.getXid() == xid).findFirst().orElse(null);
    if (sent == null) return;
    unanswered.remove(sent);
    int error = xid == PING_XID ? 0 : sent.packet.replyHeader.getErr();
    var made = error == 0 && sent.packet.response instanceof Create2Response response ? response : null;
    sent.fate.answered(sessionId, error, made == null ? null : made.getPath(), made == null ? null : made.getStat());
    listener.heard(sessionId, sent.atNs);
  }

  /** Before the client tells its callers that their requests were lost. */
  @Override
  void cleanup() {
    synchronized (listener) {
      for (Sent sent : unanswered) sent.fate.lost();
      unanswered.clear();
    }
    super.cleanup();
  }
}
