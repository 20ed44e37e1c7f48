/**
 * A certification authority that lives as long as a run: it signs one certificate for each server, which its clients check by
 * `ca`. Its own key is never written anywhere.
 *
 * It excludes everything that a public authority is for: no revocation, no chain, one kind of key (EC P-256).
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { Authority, Certificate } from '../vocabulary/tls.js';

const HOUR_MS = 3_600_000;
/** A clock that a fault moves must not end a certificate: what is to be seen is the lock, not an expired certificate. */
const VALID_AROUND_MS = 48 * HOUR_MS;

/** `nowMs`: since 1970. The certificates are valid for two days before it and after it. */
export function makeAuthority(nowMs: number): Authority {
  const own = newKey();
  const validity = der(SEQUENCE, time(nowMs - VALID_AROUND_MS), time(nowMs + VALID_AROUND_MS));
  const issuer = nameOf('lock-torture, of one run');
  const sealed = (subject: Buffer, { publicKey }: Keys, extensions: readonly Buffer[]): string => {
    const tbs = der(
      SEQUENCE,
      der(0xa0, integer(Buffer.of(2))), // version 3
      integer(randomBytes(16)),
      ECDSA_WITH_SHA256,
      issuer,
      validity,
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      der(
        0xa3,
        der(
          SEQUENCE,
          extension('2.5.29.14', der(OCTETS, keyId(publicKey))),
          extension('2.5.29.35', der(SEQUENCE, der(0x80, keyId(own.publicKey)))),
          ...extensions,
        ),
      ),
    );
    const signature = sign('sha256', tbs, own.privateKey);
    return pem(der(SEQUENCE, tbs, ECDSA_WITH_SHA256, bits(signature)));
  };
  const ca = sealed(issuer, own, [
    extension('2.5.29.19', der(SEQUENCE, YES), 'critical'), // it is an authority
    extension('2.5.29.15', bits(Buffer.of(0x04), 2), 'critical'), // its key signs certificates
  ]);
  return {
    ca,
    issue(addresses): Certificate {
      const keys = newKey();
      const cert = sealed(nameOf(addresses[0]!), keys, [
        extension('2.5.29.15', bits(Buffer.of(0x80), 7), 'critical'), // its key signs handshakes
        extension('2.5.29.17', der(SEQUENCE, ...addresses.map(alternativeName))),
      ]);
      return { cert, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}

interface Keys {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function newKey(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { publicKey, privateKey: createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
}

/** RFC 5280, 4.2.1.2: of the bits of the key alone, which are the last 65 bytes of what is exported. */
function keyId(publicKey: KeyObject): Buffer {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65);
  return createHash('sha1').update(point).digest();
}

// ----------------------------------------------------------------------------------------------------------------- DER

const SEQUENCE = 0x30;
const SET = 0x31;
const OCTETS = 0x04;
const YES = Buffer.of(0x01, 1, 0xff);
const ECDSA_WITH_SHA256 = der(SEQUENCE, objectId('1.2.840.10045.4.3.2'));

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

/** Of big-endian bytes without a sign; the shortest form, which is the only one that counts. */
function integer(bytes: Buffer): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const shortest = bytes.subarray(from);
  return der(0x02, ...(shortest[0]! >= 0x80 ? [Buffer.of(0)] : []), shortest);
}

function bits(bytes: Buffer, unused = 0): Buffer {
  return der(0x03, Buffer.of(unused), bytes);
}

function objectId(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number) as [number, number, ...number[]];
  const base128 = (value: number): number[] => {
    const digits = [value & 0x7f];
    for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  };
  return der(0x06, Buffer.from([40 * first + second, ...rest].flatMap(base128)));
}

function nameOf(commonName: string): Buffer {
  const text = der(0x0c, Buffer.from(commonName));
  return der(SEQUENCE, der(SET, der(SEQUENCE, objectId('2.5.4.3'), text)));
}

/** UTCTime, whose years have two digits, until 2049; GeneralizedTime from then on. */
function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '')}`;
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function extension(id: string, value: Buffer, critical?: 'critical'): Buffer {
  return der(SEQUENCE, objectId(id), ...(critical ? [YES] : []), der(OCTETS, value));
}

function alternativeName(address: string): Buffer {
  return isIPv4(address) ? der(0x87, Buffer.from(address.split('.').map(Number))) : der(0x82, Buffer.from(address));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
