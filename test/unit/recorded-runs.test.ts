/**
 * Runs that were recorded by the first release, judged again: their verdicts change only where a change is declared here.
 *
 * Each file in `test/fixtures/recorded-runs` is one run: brotli over `{ files, judged }`. `files` are the files of its
 * folder as that release wrote them (records of version 1; only paths in `config.json` are neutral), `judged` are the
 * facts of the `results.json` that it wrote itself. Names say what was recorded:
 * - `topology-*`: each topology, without faults and with its own; `workload-*`: each workload; `lock-*`: other locks;
 * - `fault-*`: each fault, on servers and clients;
 * - `canary-*`: each canary of that release, with the flags of `selftest --quick`, and a twin that was found stale;
 * - `scenario-*`: each scenario; `cast-*`: a scenario played with another lock, some of them not to their end;
 * - `cut-short`: a run whose process was killed: its history stops in the midst of it;
 * - `stood-still-*`: runs of a later release, whose processes were all stopped and continued from outside, the client that was
 *   next in the queue a little later: the sound lock had passed over it by its deadline, the other is unfair anyway.
 *
 * The fixtures are evidence, not snapshots: they are never made again from what the code says today. Where a verdict is
 * meant to change, declare it in `CHANGED` with its reason. A run of a later release is added by packing its folder in the
 * same way once its verdict was looked at and found right:
 * `brotliCompressSync(JSON.stringify({ files: { 'config.json': <text>, ... }, judged }))`, where `judged` is its
 * `results.json`; of that only what `Judged` names is compared.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { readRun } from '../../cli/judge/judge.js';
import type { SecondProcedure } from '../../harness/vocabulary/verdict.js';

const FIXTURES = resolve(import.meta.dirname, '../fixtures/recorded-runs');
const names = readdirSync(FIXTURES).map((file) => file.replace(/\.json\.br$/, ''));

/** A play that could not be played to its end was "cannot tell" in the table of scenarios only; its own report said that the lock held. */
const NOT_PLAYED_TO_ITS_END = [
  'verdict: held, exit status 0 → unknown, exit status 2',
  'reasons: 0 → 1',
  'strength: of 2 holds → nothing',
];

/** Samples of that release do not say at which instant the server was looked at, and nothing else shows that the key was free. */
const NOT_KNOWN_TO_BE_EMPTY = 'whether the script stored its owner cannot be told so soon after the server came up';

/** What is meant to be judged otherwise than the first release did: why, and every difference, word for word. */
const CHANGED: Record<string, { why: string; differences: string[] }> = {
  'cast-crash-between-setnx-and-expire-with-reentrant': {
    why: 'the play could not be played to its end: c1 stops at no step "after-setnx"',
    differences: NOT_PLAYED_TO_ITS_END,
  },
  'canary-silent-unlock': {
    why: 'c2 acted on for longer than the margin after its lease; that c3 had the lock for 0.6 ms of it is no less of an overlap',
    differences: [
      'found: stale: 4 → 5',
      'mutual-exclusion: stale (overlap) of lock:1, 2144527237–2145151395 ns, lines 11 17 24 27 28 29 43 44: nothing → client-slow',
      'mutual-exclusion: stale: 2 → 3',
    ],
  },
  'fault-skew-granted': {
    why: "r2's clock was set forward about when it was asked, and by that clock it granted c1 the lock within the attempt",
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:0, 7498975342–7717354624 ns, lines 353 361 363 434 449 450 525 526: minority-granted → unexplained',
    ],
  },
  'fault-failover-fenced': {
    why: 'the new primary counted on from less than the old one had counted up to, and nobody did anything else to the counter',
    differences: [
      'fencing: harm (fence-inversion) of lock:0, 7982878083–8668838456 ns, lines 65 83 99 100: unexplained → failover-lost-write',
      'fencing: harm (fence-inversion) of lock:0, 7982878083–8826705266 ns, lines 65 83 106 107: unexplained → failover-lost-write',
      'fencing: harm (fence-repeat) of lock:0, 7982878083–8850736953 ns, lines 65 83 112 113: unexplained → failover-lost-write',
    ],
  },
  'fault-failover-read-write': {
    why: 'a client said that it cannot tell what came of an operation, 0.6 ms before it was killed for that: it acted until then',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:1, 12653538737–12689807657 ns, lines 354 358 369 371 374 398 399: failover-lost-write → nothing',
      'mutual-exclusion: exclusion (overlap) of lock:1, 12653538737–12689224239 ns, lines 354 358 369 371 374 398 399: nothing → failover-lost-write',
      'loss-to-notice: loss-to-notice    lines : count 1,p50Ms 36.26892,p99Ms 36.26892,maxMs 36.26892 → count 1,p50Ms 35.685502,p99Ms 35.685502,maxMs 35.685502',
      'loss-to-notice: loss-to-notice lock:1 12653538737 12689807657 lines 354 358 374: unawareMs 36.26892 → nothing',
    ],
  },
  'cast-failover-loses-the-lock-with-wait-replicated': {
    why: 'the play could not be played to its end: the primary did not grant the lock',
    differences: NOT_PLAYED_TO_ITS_END.slice(0, 2),
  },
  'cast-late-grant-is-refused-with-redlock-4': {
    why: 'the play could not be played to its end: c1 stops at no step "asked"',
    differences: NOT_PLAYED_TO_ITS_END,
  },
  'cast-late-grant-is-refused-with-redlock-multi': {
    why: 'the play could not be played to its end: c1 stops at no step "asked"',
    differences: NOT_PLAYED_TO_ITS_END,
  },
  'cast-lease-ends-under-slow-work-with-reentrant': {
    why: 'the play could not be played to its end: the next client was not granted the lock',
    differences: NOT_PLAYED_TO_ITS_END,
  },
  'cast-pause-between-get-and-del-with-reentrant': {
    why: 'the play could not be played to its end: c1 stops at no step "before-del"',
    differences: NOT_PLAYED_TO_ITS_END,
  },
  'cast-plain-del-frees-anothers-lock-with-reentrant': {
    why: 'the play could not be played to its end: the next client was not granted the lock',
    differences: NOT_PLAYED_TO_ITS_END,
  },
  'cast-silent-unlock-with-reentrant': {
    why: 'the play could not be played to its end: the next client was not granted the lock',
    differences: NOT_PLAYED_TO_ITS_END,
  },
  'fault-failover-semaphore': {
    why: 'permits in a sorted set are read, too: the new primary was watched throughout and never got them',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:1, 6812087255–7097048538 ns, lines 65 66 79 85 89 95 99 100 108 109 131 132: unexplained → failover-lost-write',
      'mutual-exclusion: exclusion (overlap) of lock:1, 7104650576–7428504118 ns, lines 65 66 85 89 98 101 104 105 108 109 131 132: unexplained → failover-lost-write',
    ],
  },
  'canary-permit-returned-twice': {
    why: 'permits that are only counted are read, too: a client gave back more of them than it had taken',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:0, 2119147433–2358361970 ns, lines 89 91 101 102 111 114 122 123 129 131 160 161: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2121721477–2429240219 ns, lines 89 91 101 111 112 116 129 131 139 140 160 161: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2403979146–2430718634 ns, lines 101 111 112 116 125 128 130 132 139 140 160 161: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2439570786–2460200354 ns, lines 101 111 112 116 133 135 139 140 147 148 160 161: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2449382026–2521014639 ns, lines 101 111 133 135 136 138 147 148 160 161 215 216: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2486008645–2568780505 ns, lines 101 111 136 138 141 143 149 152 160 161 215 216: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2509603453–2575787271 ns, lines 101 111 136 138 144 146 151 155 160 161 215 216: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2574560954–2607597093 ns, lines 101 111 136 138 150 154 160 161 168 169 215 216: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2597168313–2649817394 ns, lines 136 138 150 154 157 159 168 169 195 196 215 216: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2641760677–2954291995 ns, lines 136 138 157 159 165 167 195 196 215 216 251 253: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:1, 2684832403–2694945362 ns, lines 119 121 162 164 170 172 173 174 183 184 185 186: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:1, 2718996831–2753106632 ns, lines 162 164 170 172 175 177 178 179 183 184 185 186: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2797286368–2982440019 ns, lines 136 138 165 167 180 182 200 203 215 216 251 253: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2897475357–2944854658 ns, lines 136 138 165 167 187 190 193 194 215 216 251 253: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2900052123–2985086211 ns, lines 136 138 165 167 188 192 201 205 215 216 251 253: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2987497244–3013962851 ns, lines 136 138 165 167 202 206 213 214 215 216 251 253: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2997310894–3021691042 ns, lines 136 138 165 167 208 212 215 216 251 253 280 285: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:1, 3056044557–3114305890 ns, lines 221 222 225 226 227 229 233 234 238 239 250 252: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 3067539398–3140705777 ns, lines 165 167 208 212 230 232 240 241 251 253 280 285: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 3130923356–3172328566 ns, lines 165 167 208 212 235 237 246 249 251 253 280 285: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 3171924114–3184176836 ns, lines 165 167 208 212 245 248 251 253 263 264 280 285: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 3194445460–3214222102 ns, lines 208 212 245 248 254 259 263 264 266 269 280 285: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:0, 3208817317–3251477849 ns, lines 208 212 254 259 260 262 266 269 272 276 280 285: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:1, 3249943358–3323412745 ns, lines 242 244 255 257 265 268 279 281 282 283 286 287: unexplained → returned-too-often',
      'mutual-exclusion: exclusion (overlap) of lock:1, 3311704323–3322665200 ns, lines 242 244 255 257 271 275 278 281 282 284 286 287: unexplained → returned-too-often',
    ],
  },
  'canary-lease-in-seconds': {
    why: 'a key of 2 ms may have been there or not when the second client asked: whether it was granted is not known',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:0, 3143041595–3208523171 ns, lines 11 14 18 20 22 23 39 41: lease-too-short → unexplained',
    ],
  },
  'cast-restart-without-persistence-with-reentrant': {
    why: NOT_KNOWN_TO_BE_EMPTY,
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:0, 3236157390–3256974401 ns, lines 6 8 11 13 14 15 16 17: node-forgot → unexplained',
    ],
  },
  'cast-server-clock-jumps-with-reentrant': {
    why: NOT_KNOWN_TO_BE_EMPTY,
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:0, 2511796893–2512823597 ns, lines 6 8 10 12 13 14 15 16: clock-jumped → unexplained',
    ],
  },
  'canary-swapped-arguments': {
    why: 'a key that a watchdog renewed after its release was asked for in vain, and its client took it again: it starved; the other field of the hash is a count below nothing, and names nobody',
    differences: [
      'found: liveness: 3 → 4',
      'liveness: liveness (deadlock) of lock:1, 7191213604–11713690385 ns, lines 174 252: unexplained → prolonged-too-long',
      'liveness: liveness (deadlock) of lock:2, 7191213604–11713814625 ns, lines 174 253: unexplained → prolonged-too-long',
      'liveness: liveness (deadlock) of lock:0, 7191213604–11713843366 ns, lines 174 254: unexplained → prolonged-too-long',
      'starved: liveness (starved) of lock:1, 2527031053–5677484907 ns, lines 42 60 117 155: nothing → prolonged-too-long',
    ],
  },
  'canary-count-not-reset': {
    why: 'the third grant came from the count in the memory of its client, while the server kept the key of another one',
    differences: [
      'found: exclusion: 2 → 3',
      'mutual-exclusion: exclusion (overlap) of lock:0, 2451390016–2597406039 ns, lines 10 14 24 25 29 30 31 32: unexplained → never-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2451390016–2597406039 ns, lines 24 25 29 31: nothing → never-granted',
    ],
  },
  'canary-upgrade-beside-readers': {
    why: 'the servers were seen to store the writer beside the readers that they had already',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:1, 8135031790–8322411910 ns, lines 133 135 138 140 153 154 160 161: unexplained → granted-beside',
      'mutual-exclusion: exclusion (overlap) of lock:1, 8220761674–8322411910 ns, lines 138 140 147 149 153 154 158 159: unexplained → granted-beside',
      'mutual-exclusion: exclusion (overlap) of lock:1, 8220761674–8326940607 ns, lines 121 128 147 149 155 156 158 159: unexplained → granted-beside',
      'mutual-exclusion: exclusion (overlap) of lock:1, 8617444999–8803262273 ns, lines 165 167 180 183 184 185 194 199: unexplained → granted-beside',
      'mutual-exclusion: exclusion (overlap) of lock:1, 8617444999–8803262273 ns, lines 171 174 180 183 184 185 196 198: unexplained → granted-beside',
    ],
  },
  'canary-half-quorum': {
    why: 'a hold that half of the nodes had granted is found by itself, too, also where others were granted the key later',
    differences: [
      'found: exclusion: 13 → 32',
      'never-granted: exclusion (never-granted) of lock:0, 2090820294–2132064169 ns, lines 79 161 173 174: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2116113370–2151242598 ns, lines 137 168 178 179: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2143751878–2156044623 ns, lines 171 177 181 183: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2356363278–2400158012 ns, lines 239 243 262 263: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2357451320–2366747892 ns, lines 225 245 248 249: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2372328960–2382743709 ns, lines 216 252 255 256: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2395354562–2404625297 ns, lines 236 259 264 265: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2549767120–2559750596 ns, lines 257 307 311 313: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2550834741–2562618530 ns, lines 246 309 312 314: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 2587313513–2600612401 ns, lines 323 327 329 330: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 3134409405–3147504035 ns, lines 459 481 487 490: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 3138718729–3147812858 ns, lines 479 484 488 489: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 3815041872–3822039526 ns, lines 623 689 691 693: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 3835329785–3843414391 ns, lines 653 695 696 698: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 3856333800–3867314291 ns, lines 701 703 708 712: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 4042571909–4050393493 ns, lines 765 767 773 776: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 4044639510–4050808736 ns, lines 661 770 774 777: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 4366445374–4397921046 ns, lines 884 886 893 898: nothing → minority-granted',
      'never-granted: exclusion (never-granted) of lock:0, 4366844017–4392755246 ns, lines 883 888 891 892: nothing → minority-granted',
    ],
  },
  'canary-fence-per-client': {
    why: 'tokens are ordered by when the try that was granted was sent, not by the call: more grants follow a higher token',
    differences: [
      'found: harm: 15 → 17',
      'fencing: harm (fence-repeat) of lock:0, 1103008289–1429069092 ns, lines 10 13 19 44: unexplained → nothing',
      'fencing: harm (fence-repeat) of lock:2, 1102176806–2033220171 ns, lines 9 12 15 116: unexplained → nothing',
      'fencing: harm (fence-repeat) of lock:2, 2026762931–2039677495 ns, lines 50 70 111 121: unexplained → nothing',
      'fencing: harm (fence-inversion) of lock:0, 1353613492–1429069092 ns, lines 13 34 35 44: nothing → unexplained',
      'fencing: harm (fence-inversion) of lock:2, 1601506853–2026762931 ns, lines 50 80 91 111: nothing → unexplained',
      'fencing: harm (fence-inversion) of lock:2, 1601506853–2033220171 ns, lines 12 80 91 116: nothing → unexplained',
      'fencing: harm (fence-inversion) of lock:2, 1601506853–2039677495 ns, lines 70 80 91 121: nothing → unexplained',
      'fencing: harm (fence-inversion) of lock:2, 1601506853–2058014959 ns, lines 80 86 91 135: nothing → unexplained',
      'fencing: fencesNotRisen: 15 → 17',
      'fencing: fenceInversions: 7 → 15',
    ],
  },
  'canary-shared-owner': {
    why: 'that the value was there when the next script stored it again follows from the commands, without a sample',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:2, 4488428071–4600417390 ns, lines 10 15 16 18 24 25 62 65: unexplained → shared-owner',
      'mutual-exclusion: exclusion (overlap) of lock:0, 4493747911–4559100381 ns, lines 11 14 17 19 22 23 40 41: unexplained → shared-owner',
      'mutual-exclusion: exclusion (overlap) of lock:2, 4498459172–4600417390 ns, lines 13 15 16 20 24 25 36 39: unexplained → shared-owner',
      'mutual-exclusion: exclusion (overlap) of lock:2, 4498459172–4921075662 ns, lines 10 13 18 20 36 39 62 65: unexplained → shared-owner',
      'mutual-exclusion: exclusion (overlap) of lock:1, 4622968437–4712656950 ns, lines 26 27 28 29 30 31 60 64: unexplained → shared-owner',
    ],
  },
  'scenario-redlock-node-restarts-empty-unexplained': {
    why: 'two nodes that were asked too late for the answer did not grant it, so what happened to the third explains it',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:0, 675091269–677806777 ns, lines 12 14 23 25 26 27 28 29: unexplained → node-forgot',
    ],
  },
  'canary-queue-jumper': {
    why: "the place of the one that was overtaken was in the server's queue when the newcomer was granted the lock",
    differences: [
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3331792839 ns, lines 19 33 62 65 73: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3360044803 ns, lines 17 34 62 65 77: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3384244694 ns, lines 25 37 62 65 85: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3404324010 ns, lines 27 38 62 65 91: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3414694071 ns, lines 24 36 62 65 95: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3426256721 ns, lines 21 40 62 65 99: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3442141870 ns, lines 26 39 62 65 108: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3493704436 ns, lines 45 46 62 65 115: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3277681025–3504065501 ns, lines 51 52 62 65 119: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3686146134 ns, lines 106 109 165 168 172: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3735292873 ns, lines 110 111 165 168 180: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3745059895 ns, lines 120 122 165 168 184: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3788340585 ns, lines 123 127 165 168 192: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3828930175 ns, lines 132 135 165 168 198: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3856206608 ns, lines 133 134 165 168 202: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3903045476 ns, lines 144 145 165 168 210: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3929291445 ns, lines 150 151 165 168 214: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3953113104 ns, lines 157 158 165 168 225: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3661211742–3964309367 ns, lines 156 159 165 168 231: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3940490639–4017689791 ns, lines 173 174 216 219 239: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3940490639–4056152046 ns, lines 175 176 216 219 245: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3940490639–4067032998 ns, lines 185 186 216 219 249: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3940490639–4076988691 ns, lines 187 188 216 219 253: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3940490639–4090179391 ns, lines 193 194 216 219 259: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3940490639–4120723047 ns, lines 203 204 216 219 267: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 3940490639–4129403077 ns, lines 205 206 216 219 273: unexplained → granted-past-queue',
    ],
  },
  'stood-still-fair': {
    why: 'the harness stood still for more than a quarter of it, and that proves nothing',
    differences: ['reasons: 3 → 4', 'vacuity: valid → unknown'],
  },
  'stood-still-queue-jumper': {
    why: 'as canary-queue-jumper: the server had the place all the time; and the harness stood still for more than a quarter of it',
    differences: [
      'fifo: liveness (fifo-inversion) of lock:0, 8683313520–8749254314 ns, lines 13 22 34 36 43: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 8683313520–8834715709 ns, lines 14 23 34 36 49: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 8683313520–8872768923 ns, lines 15 25 34 36 56: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 8683313520–8903221064 ns, lines 28 32 34 36 61: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 9658591767–9731510514 ns, lines 146 150 169 173 179: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 9658591767–9818887332 ns, lines 156 158 169 173 186: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 12269224658–13584488745 ns, lines 211 212 221 224 238: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 13751281865–13763579892 ns, lines 280 283 293 296 300: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 13751281865–13776263614 ns, lines 282 285 293 296 305: unexplained → granted-past-queue',
      'fifo: liveness (fifo-inversion) of lock:0, 13751281865–13785268926 ns, lines 286 288 293 296 310: unexplained → granted-past-queue',
      'reasons: 0 → 1',
      'vacuity: valid → unknown',
    ],
  },
  'scenario-swapped-arguments': {
    why: 'as canary-swapped-arguments: the other field of the hash is a count below nothing, and names nobody',
    differences: [
      'liveness: liveness (deadlock) of lock:1, 4510184371–8051661035 ns, lines 20 50: unexplained → prolonged-too-long',
    ],
  },
  'canary-reused-owner': {
    why: 'the key was removed by its own client, within the release of the hold before',
    differences: [
      'mutual-exclusion: exclusion (overlap) of lock:0, 3010907309–3139459549 ns, lines 34 40 46 49 58 59 60 62: unexplained → released-by-itself',
      'mutual-exclusion: exclusion (overlap) of lock:0, 3013804165–3139459549 ns, lines 40 46 52 53 58 59 61 63: unexplained → released-by-itself',
      'mutual-exclusion: exclusion (overlap) of lock:0, 3013804165–3164214505 ns, lines 34 49 52 53 60 61 62 63: unexplained → released-by-itself',
    ],
  },
};

/** The facts of a `results.json`: no wording, for that may change. */
interface Judged {
  verdict: string;
  exitStatus: number;
  reasons: string[];
  found: Record<string, number>;
  strength?: string;
  readings: { reading: string; verdict: string; found: number }[];
  checkers: {
    checker: string;
    verdict: string;
    found?: Record<string, number>;
    stats: Record<string, number>;
    violations: Violation[];
    measurements?: Measurement[];
    second?: SecondProcedure;
  }[];
}

interface Violation {
  class: string;
  kind: string;
  key: string;
  fromNs: number;
  untilNs: number;
  evidence: number[];
  /** Its name, in kept facts; in results it has one. */
  cause: string | { name: string };
}

interface Measurement {
  name: string;
  key?: string;
  fromNs?: number;
  untilNs?: number;
  values: Record<string, number>;
  evidence: number[];
}

interface Fixture {
  files: Record<string, string>;
  judged: Judged;
}

function read(name: string): Fixture {
  return JSON.parse(brotliDecompressSync(readFileSync(join(FIXTURES, `${name}.json.br`))).toString()) as Fixture;
}

const scratch = mkdtempSync(join(tmpdir(), 'recorded-runs-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Judges a recorded run by what `check` calls. */
async function judgeAgain(name: string, files: Fixture['files']): Promise<Judged> {
  const folder = join(scratch, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const { results } = await readRun(folder);
  rmSync(folder, { recursive: true });
  return results as unknown as Judged;
}

/** Facts by where they stand; several that stand in one place (violations of the same holds, say) are one text. */
type Facts = Map<string, string>;

/** What a run was accused of: no fact may be missing, and none may come to it. */
function accusations({ verdict, exitStatus, found, checkers }: Judged): Facts {
  const facts: Facts = new Map();
  add(facts, 'verdict', `${verdict}, exit status ${exitStatus}`);
  for (const [name, count] of Object.entries(found)) if (count > 0) add(facts, `found: ${name}`, `${count}`);
  for (const { checker, violations } of checkers)
    for (const { class: name, kind, key, fromNs, untilNs, evidence, cause } of violations)
      add(
        facts,
        `${checker}: ${name} (${kind}) of ${key}, ${fromNs}–${untilNs} ns, lines ${evidence.join(' ')}`,
        typeof cause === 'string' ? cause : cause.name,
      );
  return facts;
}

/** What else was said of a run. No fact may be missing; a later release may know more: other checkers, counts, measurements. */
function statements({ reasons, strength, readings, checkers }: Judged): Facts {
  const facts: Facts = new Map();
  add(facts, 'reasons', `${reasons.length}`);
  if (strength !== undefined) add(facts, 'strength', `of ${countedBy(strength)}`);
  for (const { reading, verdict } of readings) add(facts, `reading ${reading}`, verdict);
  for (const { checker, verdict, found = {}, stats, measurements = [] } of checkers) {
    add(facts, checker, verdict);
    for (const [name, count] of Object.entries(found)) add(facts, `${checker}: found ${name}`, `${count}`);
    for (const [name, value] of Object.entries(stats)) add(facts, `${checker}: ${name}`, rounded(value));
    for (const { name, key, fromNs, untilNs, values, evidence } of measurements) {
      const measured = Object.entries(values).map(([unit, value]) => `${unit} ${rounded(value)}`);
      add(
        facts,
        `${checker}: ${[name, key, fromNs, untilNs, `lines ${evidence.join(' ')}`].join(' ')}`,
        measured.join(),
      );
    }
  }
  return facts;
}

/** That release bounded by the holds that were struck; they still stand beside the strikes. Without faults holds are what bounds. */
function countedBy(strength: string): string {
  const [, struck] = /\((\d+) holds? struck\)/.exec(strength) ?? [];
  const [, holds, kind] = /^0 of (\d+) (struck hold|hold)/.exec(strength) ?? [];
  return struck === undefined ? `${holds} ${kind}s` : `${struck} struck holds`;
}

function add(facts: Facts, place: string, fact: string): void {
  const before = facts.get(place);
  facts.set(place, before === undefined ? fact : [...before.split(' & '), fact].sort().join(' & '));
}

/** Sums may be added up in another order. */
function rounded(value: number): string {
  return Number(value.toPrecision(9)).toString();
}

function differences(before: Judged, now: Judged): string[] {
  return [
    ...changes(accusations(before), accusations(now), true),
    ...changes(statements(before), statements(now), false),
  ];
}

function changes(before: Facts, now: Facts, none: boolean): string[] {
  const places = new Set([...before.keys(), ...(none ? now.keys() : [])]);
  return [...places]
    .filter((place) => before.get(place) !== now.get(place))
    .map((place) => `${place}: ${before.get(place) ?? 'nothing'} → ${now.get(place) ?? 'nothing'}`);
}

const NOT_ASKED = { agreed: 0, disagreed: [], open: [] };
/** What the linearizability checker has no reading for. */
const ONE_PROCEDURE: Record<string, string[]> = {
  'canary-upgrade-beside-readers': ['lock:0', 'lock:1'].map(
    (key) => `${key}: a client was granted it for writing while it had it already`,
  ),
};

const strikes = new Map<string, number>();

describe('a run of the first release is judged as it was, by two procedures', () => {
  test.each(names)('%s', async (name) => {
    const { files, judged } = read(name);
    const now = await judgeAgain(name, files);
    expect(differences(judged, now)).toEqual(CHANGED[name]?.differences ?? []);
    // The first release counted pairs. What cannot be is counted once now, whatever it contradicts.
    for (const { reading, found: pairs } of judged.readings) {
      const found = now.readings.find((one) => one.reading === reading)!.found;
      expect([found <= pairs, found > 0], `${reading}: ${found} of ${pairs}`).toEqual([true, pairs > 0]);
    }
    const [, of] = /^0 of (\d+) strikes? violated; at most .* \(\d+ holds? struck\)$/.exec(now.strength ?? '') ?? [];
    if (of !== undefined) strikes.set(name, Number(of));
    const second = now.checkers.find(({ checker }) => checker === 'mutual-exclusion')?.second;
    expect(second ?? NOT_ASKED).toEqual({ agreed: expect.any(Number), disagreed: [], open: ONE_PROCEDURE[name] ?? [] });
  });
});

/** Of each that held, how many strikes there are by the times in its history: what overlaps counts once, and what met no hold not at all. */
const STRIKES: Record<string, number> = {
  'fault-amnesia': 1,
  'fault-amnesia-single': 1,
  'fault-clock-client': 1,
  'fault-drift': 1,
  'fault-kill-clients': 1,
  'fault-kill-not-confirmed': 1,
  'fault-lost-reply': 1,
  'fault-partition-redlock': 1,
  'fault-pause-primary': 2,
  'lock-redis-semaphore-mutex': 2,
  'lock-spin': 2,
  'topology-cluster-default': 3,
  'topology-redlock-default': 2,
  'topology-replica-default': 3,
  'workload-crash': 2,
  'workload-fenced-resource': 1,
  'workload-semaphore': 1,
};

test('what a run that held is worth goes by its strikes, of which there are fewer than faults', () => {
  expect(Object.fromEntries(strikes)).toEqual(STRIKES);
});

test('every declared change is about a recorded run', () => {
  expect(Object.keys(CHANGED).filter((name) => !names.includes(name))).toEqual([]);
});

test('the runs cover every topology, workload, fault, canary and scenario of the first release, and every verdict', () => {
  const runs = names.map(read).map(({ files, judged }) => ({
    ...(JSON.parse(files['config.json']!) as { topology: string; workload: string; lock: string; scenario?: string }),
    verdict: judged.verdict,
    faults: (JSON.parse(files['plan.json']!) as { steps: { fault: string }[] }).steps.map(({ fault }) => fault),
    causes: judged.checkers.flatMap(({ violations }) => violations.map(({ cause }) => cause as string)),
    classes: Object.keys(judged.found),
  }));
  const different = (of: (run: (typeof runs)[number]) => readonly (string | undefined)[]) =>
    [...new Set(runs.flatMap(of))].filter((one) => one !== undefined).sort();
  expect(different(({ topology }) => [topology])).toEqual(['cluster', 'redlock', 'replica', 'sentinel', 'single']);
  expect(different(({ workload }) => [workload])).toHaveLength(13);
  expect(different(({ faults }) => faults)).toHaveLength(15);
  expect(different(({ lock }) => (/^broken\/(?!.*-mended$)/.test(lock) ? [lock] : []))).toHaveLength(22);
  expect(different(({ scenario }) => [scenario])).toHaveLength(51);
  expect(different(({ verdict }) => [verdict])).toEqual(['held', 'unknown', 'violated']);
  expect(different(({ classes }) => classes)).toEqual(['exclusion', 'harm', 'liveness', 'stale']);
  expect(different(({ causes }) => causes)).toEqual([
    'client-cut-off',
    'client-paused',
    'client-slow',
    'clock-jumped',
    'evicted',
    'failover-lost-write',
    'granted-late',
    'key-never-expires',
    'lease-too-short',
    'minority-granted',
    'node-forgot',
    'released-by-other',
    'shared-owner',
    'split-brain',
    'unexplained',
  ]);
});
