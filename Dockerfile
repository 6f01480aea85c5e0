# An image with `lossproof` in it, for CI and for those who build their own on it. No GPU, no torch: what your trainer imports
# is yours to add, `pip install` works in it. docker build -t lossproof . && docker run --rm -v "$PWD:/work" lossproof check
FROM node:22-bookworm-slim AS node
FROM python:3.13-slim-bookworm AS wheel
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /source
COPY . .
RUN npm ci --ignore-scripts && npm run wheel

FROM python:3.13-slim-bookworm
RUN useradd --create-home --uid 1000 lossproof && mkdir /work /opt/lossproof && chown lossproof: /work /opt/lossproof
USER lossproof
# Whoever mounts a folder here means it, and its files belong to a user of the host: LOSSPROOF_TRUST, docs/security.md.
ENV VIRTUAL_ENV=/opt/lossproof PATH=/opt/lossproof/bin:$PATH LOSSPROOF_TRUST=/work
RUN --mount=type=bind,from=wheel,source=/source/dist,target=/wheels \
    python -m venv /opt/lossproof && pip install --no-cache-dir /wheels/lossproof-*.whl
WORKDIR /work
ENTRYPOINT ["lossproof"]
CMD ["--help"]
