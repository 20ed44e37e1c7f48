// Promises: in one line, that this Node is too old for the tool, and what to do. With `torture.mjs` and `last-resort.mjs` it is all that such a Node
// reads, so both keep to what Node 12 can parse and has (Ubuntu 22.04 comes with that one).

const NODE_MAJOR_MIN = 20;

/** One line for people; undefined: this Node will do. */
export function nodeTooOld() {
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) return undefined;
  return `Node.js ${NODE_MAJOR_MIN} or newer is needed and this is ${process.version}: install a current version from https://nodejs.org/ or with your version manager, then run the same command again`;
}
