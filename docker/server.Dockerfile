# What a server of any service, or a Sentinel, runs in: the image of the user's choice, the tools that faults are made with, the
# clock shim and the durable shim, and the agent with the Node.js that it needs.
ARG BASE
ARG CLIENT
FROM ${CLIENT} AS client

FROM ${BASE}
USER 0
RUN command -v ip >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends iproute2 && rm -rf /var/lib/apt/lists/*; }
COPY compiled/ /opt/lock-torture/
COPY --from=client /opt/lock-torture/node /opt/lock-torture/
# By one name, the first of these that is there: names on PATH, or paths, which may have stars. Where there is none, the distribution's
# packages bring it.
ARG PROGRAMS
ARG PACKAGES
RUN found() { for program in $PROGRAMS; do case $program in (/*) ls "$program" 2>/dev/null && return ;; (*) command -v "$program" && return ;; esac; done; false; }; \
    found >/dev/null || test -z "$PACKAGES" || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $PACKAGES && rm -rf /var/lib/apt/lists/*; }; \
    program=$(found) || { echo "it has none of: $PROGRAMS"; exit 1; }; \
    ln -s "$program" /opt/lock-torture/server && /opt/lock-torture/node --version
COPY package.json /opt/lock-torture/project/
COPY dist/docker/agent /opt/lock-torture/project/dist/docker/agent
COPY dist/harness/runtimes/host-files.js dist/harness/runtimes/power-cut.js dist/harness/runtimes/process-family.js /opt/lock-torture/project/dist/harness/runtimes/
ENTRYPOINT ["/opt/lock-torture/node", "/opt/lock-torture/project/dist/docker/agent/main.js"]
