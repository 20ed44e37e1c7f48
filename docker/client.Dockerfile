# What a lock client runs in: Node.js, the tools that faults are made with, the clock shim, the agent and the project. And the
# link shaper, which runs beside any host.
ARG BASE
FROM ${BASE} AS shim
USER 0
# A compiler only where the base has none.
RUN command -v cc >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev; }
COPY harness/native/clock-shim.c harness/native/link-shaper.c /opt/lock-torture/
RUN mkdir /opt/lock-torture/built && cc -O2 -shared -fPIC -o /opt/lock-torture/built/clock-shim.so /opt/lock-torture/clock-shim.c
# A C library without the kernel's headers has none: then links cannot be degraded, which is tried before a run.
RUN cc -O2 -o /opt/lock-torture/built/link-shaper /opt/lock-torture/link-shaper.c || true
# The engine keeps it, without a name, for the next build.
LABEL lock-torture.image=parts

FROM ${BASE}
USER 0
RUN command -v ip >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends iproute2 && rm -rf /var/lib/apt/lists/*; }
# By one name, wherever the base has it; as a file, because another image copies it.
RUN mkdir -p /opt/lock-torture && cp "$(readlink -f "$(command -v node)")" /opt/lock-torture/node && /opt/lock-torture/node --version
COPY --from=shim /opt/lock-torture/built/ /opt/lock-torture/
COPY package.json /opt/lock-torture/project/
COPY dist /opt/lock-torture/project/dist
ENTRYPOINT ["/opt/lock-torture/node", "/opt/lock-torture/project/dist/docker/agent/main.js"]
