/** Entry of the inner process of a run in real time. Started by the outer one only. */
import { insideProcess } from './inside-process.js';

await insideProcess();
