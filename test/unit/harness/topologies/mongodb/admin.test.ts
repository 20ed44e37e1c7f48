/** Questions in MongoDB's wire protocol, to a server that a test plays. */
import { Duplex } from 'node:stream';
import { BSON, type Document } from 'mongodb';
import { expect, it } from 'vitest';
import { MongoAdmin, MongoAnswerError } from '../../../../../harness/topologies/mongodb/admin.js';

/** Answers each question; undefined: not. Bytes go one chunk for each `chunkBytes`. */
function server(answer: (command: Document, nth: number) => Document | undefined, chunkBytes = 7) {
  const opened: Duplex[] = [];
  let nth = 0;
  const open = async () => {
    const stream = new Duplex({
      read() {},
      write(message: Buffer, _encoding, done) {
        expect([message.readInt32LE(0), message.readInt32LE(12), message[20]]).toEqual([message.length, 2013, 0]);
        const told = answer(BSON.deserialize(message.subarray(21)), nth++);
        if (told) {
          const body = BSON.serialize(told);
          const head = Buffer.alloc(21);
          head.writeInt32LE(21 + body.length, 0);
          head.writeInt32LE(message.readInt32LE(4), 8);
          head.writeInt32LE(2013, 12);
          const whole = Buffer.concat([head, body]);
          for (let from = 0; from < whole.length; from += chunkBytes)
            stream.push(whole.subarray(from, from + chunkBytes));
        }
        done();
      },
    });
    opened.push(stream);
    return stream;
  };
  return { open, opened };
}

it('asks one after the other through one connection, each in its database', async () => {
  const { open, opened } = server((command) => ({ ok: 1, was: command }));
  const admin = new MongoAdmin(open, 1_000);
  const answers = await Promise.all([admin.ask({ ping: 1 }), admin.ask({ find: 'c' }, 'locks')]);
  expect(answers.map(({ was }) => was)).toEqual([
    { ping: 1, $db: 'admin' },
    { find: 'c', $db: 'locks' },
  ]);
  expect(opened).toHaveLength(1);
});

it('takes an error for an answer, and goes on', async () => {
  const { open, opened } = server((_, nth) => (nth === 0 ? { ok: 0, errmsg: 'it is there', code: 48 } : { ok: 1 }));
  const admin = new MongoAdmin(open, 1_000);
  const said = await admin.ask({ create: 'c' }).catch((error: unknown) => error);
  expect(said).toBeInstanceOf(MongoAnswerError);
  expect(said).toMatchObject({ message: 'it is there', code: 48 });
  expect(await admin.ask({ ping: 1 })).toEqual({ ok: 1 });
  expect(opened).toHaveLength(1);
});

it('ends a connection that does not answer, and makes another', async () => {
  const { open, opened } = server((_, nth) => (nth === 0 ? undefined : { ok: 1 }));
  const admin = new MongoAdmin(open, 50);
  await expect(admin.ask({ ping: 1 })).rejects.toThrow('no answer within 50 ms');
  expect(opened[0]!.destroyed).toBe(true);
  expect(await admin.ask({ ping: 1 })).toEqual({ ok: 1 });
  expect(opened).toHaveLength(2);
});

it('hears that the connection has ended', async () => {
  const { open, opened } = server(() => undefined);
  const admin = new MongoAdmin(open, 5_000);
  const asked = admin.ask({ ping: 1 });
  await expect.poll(() => opened.length).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  opened[0]!.destroy();
  await expect(asked).rejects.toThrow('the connection ended');
});
