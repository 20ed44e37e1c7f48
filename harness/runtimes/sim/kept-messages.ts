/** Every message of a network from when it is asked for, with what becomes of it. */
import type { Message } from '../../record/messages.js';
import type { WireConnection } from './wire.js';

export class KeptMessages {
  private kept: Message[] | undefined;

  /** The list goes on growing. */
  begin(): readonly Message[] {
    this.kept ??= [];
    return this.kept;
  }

  /** What is to be told of it, if it is kept. `bytes`: absent where the sender closes its end. */
  add(
    { number, listener }: WireConnection,
    way: Pick<Message, 'from' | 'to' | 'isBack'>,
    sentNs: number,
    bytes?: Buffer,
  ): Message | undefined {
    if (!this.kept) return undefined;
    const { from, to, isBack } = way;
    const said = bytes && { bytes: bytes.toString('latin1') };
    const message: Message = { connection: number, from, to, port: listener.port, isBack, sentNs, ...said };
    this.kept.push(message);
    return message;
  }
}
