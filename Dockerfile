# The service in an image: packages from the lock file, kernels compiled while it is built, no root.
#
# Kernels are machine code: the processor they are compiled for is named here, name and features
# together, and is the same while building and running. Otherwise the cache would miss on any other
# machine and every start would compile for a minute.

FROM python:3.11-slim AS cpu-amd64
ENV NUMBA_CPU_NAME=x86-64-v3 \
    NUMBA_CPU_FEATURES=+64bit,+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+sahf,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave

FROM python:3.11-slim AS cpu-arm64
ENV NUMBA_CPU_NAME=generic \
    NUMBA_CPU_FEATURES=+neon

# hadolint ignore=DL3006
FROM cpu-${TARGETARCH:-amd64} AS build
ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    CARDAN_KERNEL_CACHE=/opt/cardan/kernels
WORKDIR /opt/cardan/source
COPY requirements-cluster.lock ./
RUN python3 -m venv /opt/cardan/venv \
    && /opt/cardan/venv/bin/pip install --require-hashes -r requirements-cluster.lock
COPY . .
RUN /opt/cardan/venv/bin/pip install --no-index --no-deps --no-build-isolation .
RUN /opt/cardan/venv/bin/python -m compileall -q /opt/cardan/venv/lib \
    && /opt/cardan/venv/bin/cardan warmup

# the manual: its pictures are runs of the engine; what builds it stays in this stage
FROM build AS manual
WORKDIR /opt/cardan/source
RUN /opt/cardan/venv/bin/pip install --require-hashes -r requirements-manual.lock \
    && /opt/cardan/venv/bin/python -m docs.manual /opt/cardan/manual

# hadolint ignore=DL3006
FROM cpu-${TARGETARCH:-amd64} AS service
ENV PATH=/opt/cardan/venv/bin:$PATH \
    CARDAN_KERNEL_CACHE=/opt/cardan/kernels \
    CARDAN_DATA=/opt/cardan/data
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /opt/cardan cardan \
    && install --directory --owner cardan --group cardan /opt/cardan/data
COPY --from=build /opt/cardan/venv /opt/cardan/venv
COPY --from=manual /opt/cardan/manual /opt/cardan/venv/lib/python3.11/site-packages/cardan/manual
COPY --from=build --chown=cardan:cardan /opt/cardan/kernels /opt/cardan/kernels
USER 10001
WORKDIR /opt/cardan/data
# a kernel that is compiled again changes the cache: then the image is not what it promises
RUN cp -a /opt/cardan/kernels /tmp/kernels \
    && cardan warmup \
    && cardan run double-pendulum --set /simulation/duration=0.1 -o /tmp/tried.parquet \
    && cardan run pile --set /simulation/duration=0.1 -o /tmp/tried.parquet \
    && diff -r /tmp/kernels /opt/cardan/kernels \
    && rm -r /tmp/kernels /tmp/tried.parquet
VOLUME /opt/cardan/data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
# listening on all interfaces needs a key: CARDAN_API_KEY or CARDAN_API_KEY_FILE
CMD ["cardan", "serve", "--host", "0.0.0.0", "--port", "8000"]
