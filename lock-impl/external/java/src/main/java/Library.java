import com.google.gson.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A lock library as the protocol needs it. Each project has one, and calls it `Locks`. */
interface Library extends AutoCloseable {
  /** What the handshake says. `several`: a grant is made of commands to several servers, or for several keys. */
  record Claims(String lock, List<String> topologies, List<String> features, boolean several, Map<String, Object> says) {
    Claims(String lock, List<String> topologies, List<String> features) {
      this(lock, topologies, features, false, Map.of());
    }

    Map<String, Object> handshake() {
      var value = new LinkedHashMap<String, Object>(says);
      value.put("lock", lock);
      // What the lock protects is asked for by `Client`, whatever the lock.
      value.put("features", Stream.concat(features.stream(), Stream.of("resource")).toList());
      value.put("topologies", topologies);
      return value;
    }
  }

  /** The run's usual lease, and the longest that one command may take, in milliseconds; and what the process is called. */
  record Times(int leaseMs, int commandMs, String client) {}

  /** What was granted, its token where it has one, and from when its lease runs where that is not told by its last try. */
  record Granted(Holding holding, Long token, Long leaseFromNs) {
    Granted(Holding holding, Long token) {
      this(holding, token, null);
    }
  }

  /** What a library says of a hold unasked. */
  interface Telling {
    /** Its lease runs anew, from when that was sent. */
    void renewed(long sentNs, long leaseMs);

    void lost(long atNs, String why);
  }

  /** Both return false where the library says that it was not ours any more. */
  interface Holding {
    boolean giveBack() throws Exception;

    /** A new lease, from now. */
    default boolean prolong(long leaseMs) throws Exception {
      throw new Refused("unsupported: extend");
    }

    /** From now on it says what becomes of it, and what has by now. */
    default void tells(Telling telling) {}
  }

  Claims claims();

  /** Throws where this version of the library does not have what the lock is made of. */
  default void mustHaveAll() throws Refused {}

  /** Connects, with every channel watched by the wire. Where that fails it is closed, and another one asked. */
  void connect(JsonObject topology, Times times, Wire wire) throws Exception;

  /** How long the library tries on by itself where a server does not answer, in milliseconds; 0: no longer than is usual. */
  long triesOnMs();

  /** Null: refused. `read` asks for the shared mode. Called by the thread of the caller, as giving back is. */
  Granted take(String key, boolean read, long waitMs, long leaseMs) throws Exception;

  /** Ends what connections there are. */
  @Override
  void close();
}
