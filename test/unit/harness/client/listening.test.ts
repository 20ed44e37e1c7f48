import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { Listening } from '../../../../harness/client/listening.js';

class FakeSubscriber extends EventEmitter {
  readonly commands: string[] = [];
  fails = false;

  async subscribe(...channels: string[]): Promise<void> {
    this.commands.push(`+${channels.join()}`);
    if (this.fails) throw new Error('Connection is closed.');
  }

  async unsubscribe(...channels: string[]): Promise<void> {
    this.commands.push(`-${channels.join()}`);
  }
}

function listening(isReady = async () => true) {
  const subscriber = new FakeSubscriber();
  return { subscriber, listening: new Listening(subscriber as unknown as Redis, isReady) };
}

test('each channel is heard by those who listen to it, until the last of them stops', async () => {
  const { subscriber, listening: all } = listening();
  const heard: string[] = [];
  const stopA = await all.listen('x', (message) => heard.push(`a:${message}`));
  const stopB = await all.listen('x', (message) => heard.push(`b:${message}`));
  await all.listen('y', (message) => heard.push(`c:${message}`));
  subscriber.emit('message', 'x', '1');
  stopA();
  subscriber.emit('message', 'x', '2');
  subscriber.emit('message', 'y', '3');
  stopB();
  stopB();
  subscriber.emit('message', 'x', '4');
  expect(heard).toEqual(['a:1', 'b:1', 'b:2', 'c:3']);
  expect(subscriber.commands).toEqual(['+x', '+x', '+y', '-x']);
});

test('a new connection listens to what the lost one did; failing to do so is no error', async () => {
  const { subscriber, listening: all } = listening();
  subscriber.emit('ready');
  await all.listen('x', () => {});
  await all.listen('y', () => {});
  subscriber.fails = true;
  subscriber.emit('ready');
  subscriber.fails = false;
  subscriber.emit('ready');
  expect(subscriber.commands).toEqual(['+x', '+y', '+x,y', '+x,y']);
});

test('a channel that cannot be listened to is reported, and forgotten', async () => {
  const { subscriber, listening: all } = listening();
  subscriber.fails = true;
  await expect(all.listen('x', () => {})).rejects.toThrow('Connection is closed.');
  subscriber.fails = false;
  subscriber.emit('ready');
  expect(subscriber.commands).toEqual(['+x', '-x']);
  const { listening: never, subscriber: cut } = listening(async () => false);
  await expect(never.listen('x', () => {})).rejects.toThrow('no connection to listen on');
  expect(cut.commands).toEqual(['-x']);
});
