# What a Redis or Valkey server, or a Sentinel, runs in: the image of the user's choice, the tools that faults are made
# with, the clock shim and the durable shim compiled against its own C library, and the agent with the Node.js that it needs.
ARG BASE
ARG CLIENT
FROM ${CLIENT} AS client

FROM ${BASE} AS shim
USER 0
RUN command -v cc >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev; }
COPY harness/native/clock-shim.c harness/native/durable-shim.c /opt/lock-torture/
RUN for shim in clock-shim durable-shim; do cc -O2 -shared -fPIC -o /opt/lock-torture/$shim.so /opt/lock-torture/$shim.c || exit 1; done

FROM ${BASE}
USER 0
RUN command -v ip >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends iproute2 && rm -rf /var/lib/apt/lists/*; }
COPY --from=shim /opt/lock-torture/clock-shim.so /opt/lock-torture/durable-shim.so /opt/lock-torture/
COPY --from=client /opt/lock-torture/node /opt/lock-torture/
# By one name, whichever of the two it is.
RUN ln -s "$(command -v redis-server || command -v valkey-server)" /opt/lock-torture/server && /opt/lock-torture/server --version && /opt/lock-torture/node --version
COPY package.json /opt/lock-torture/project/
COPY dist/docker/agent /opt/lock-torture/project/dist/docker/agent
COPY dist/harness/runtimes/power-cut.js /opt/lock-torture/project/dist/harness/runtimes/
ENTRYPOINT ["/opt/lock-torture/node", "/opt/lock-torture/project/dist/docker/agent/main.js"]
