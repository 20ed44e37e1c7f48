import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.protocol.CompleteableCommand;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Sees every command that Lettuce sends, those that it sends again after a reconnect included: a handler at the end of each
 * channel's pipeline where commands come in. Many are on their way on one connection, and each knows when it is answered.
 */
final class Commands implements NettyCustomizer {
  private final Wire wire;

  Commands(Wire wire) {
    this.wire = wire;
  }

  @Override
  public void afterChannelInitialized(Channel channel) {
    channel.pipeline().addLast(new Handler());
  }

  private final class Handler extends ChannelDuplexHandler {
    /** Operations of commands on this connection that have no answer yet. */
    private final Set<List<Wire.Operation>> waiting = ConcurrentHashMap.newKeySet();

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
      if (message instanceof RedisCommand<?, ?, ?> command) sending(context, command);
      else if (message instanceof Collection<?> several)
        for (Object one : several) if (one instanceof RedisCommand<?, ?, ?> command) sending(context, command);
      super.write(context, message, promise);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
      // Lettuce sends what is unanswered again when it is connected again.
      for (List<Wire.Operation> operations : waiting) if (waiting.remove(operations)) wire.lost(operations);
      super.channelInactive(context);
    }

    private void sending(ChannelHandlerContext context, RedisCommand<?, ?, ?> command) {
      List<Wire.Operation> operations = wire.leaves(text(context, command), true, false);
      if (operations.isEmpty() || !(command instanceof CompleteableCommand<?> completeable)) return;
      waiting.add(operations);
      completeable.onComplete(
          (answer, error) -> {
            if (!waiting.remove(operations)) return;
            if (error == null || error instanceof RedisCommandExecutionException) wire.answered(operations);
            else wire.lost(operations);
          });
    }
  }

  private static String text(ChannelHandlerContext context, RedisCommand<?, ?, ?> command) {
    ByteBuf bytes = context.alloc().buffer();
    try {
      command.encode(bytes);
      return bytes.toString(StandardCharsets.UTF_8);
    } finally {
      bytes.release();
    }
  }
}
