# What a lock client runs in: Node.js, the tools that faults are made with, the clock shim, the agent and the project. And the
# link shaper, which runs beside any host.
ARG BASE
FROM ${BASE}
USER 0
RUN command -v ip >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends iproute2 && rm -rf /var/lib/apt/lists/*; }
# By one name, wherever the base has it; as a file, because another image copies it.
RUN mkdir -p /opt/lock-torture && cp "$(readlink -f "$(command -v node)")" /opt/lock-torture/node && /opt/lock-torture/node --version
COPY compiled/ /opt/lock-torture/
COPY package.json /opt/lock-torture/project/
COPY dist /opt/lock-torture/project/dist
ENTRYPOINT ["/opt/lock-torture/node", "/opt/lock-torture/project/dist/docker/agent/main.js"]
