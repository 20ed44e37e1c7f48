import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Has something done by a thread of its own, which nobody waits for longer than he said. */
final class Aside {
  interface Doing {
    void carryOut() throws Exception;
  }

  /** Throws what it throws; what is not done after `ms` milliseconds is left alone. */
  static void within(long ms, Doing doing) throws Exception {
    var task =
        new FutureTask<Void>(
            () -> {
              doing.carryOut();
              return null;
            });
    start(task);
    try {
      task.get(ms, TimeUnit.MILLISECONDS);
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof Exception error ? error : failed;
    } catch (TimeoutException never) {
      throw new TimeoutException("not done after " + ms + " ms");
    }
  }

  static void start(Runnable doing) {
    var thread = new Thread(doing, "aside");
    thread.setDaemon(true);
    thread.start();
  }

  private Aside() {}
}
