/** The `docker` runtime, as the command line wires it. Loading this loads no library: that waits until an engine is asked. */
export { ContainerError, type Engine, findEngine } from './engine.js';
export { type Bases, DEFAULT_CLIENT_IMAGE, type Images, INSIDE, provideImages } from './images.js';
export type { DockerOptions, HostFile } from './options.js';
export { removeLeftovers } from './owner.js';
export { type Probed, probe } from './probe.js';
export { dockerRuntime } from './runtime.js';
