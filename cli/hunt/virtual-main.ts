/** Entry of the inner process of a run in virtual time. Started by the outer one only. */
import { insideProcess } from '../run/inside-process.js';
import { playInVirtualTime } from './virtual-run.js';

await insideProcess(playInVirtualTime);
