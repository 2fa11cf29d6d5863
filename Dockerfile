# hacheck as a command, without root: docs/ci.md.
#   docker build -t hacheck .
#   docker run --rm -v "$PWD:/work" hacheck verify mine.ha
# EXTRAS= builds it without what proofs, logs and tests of code need (380 MB less); BASE= is another image with Python.
ARG BASE=python:3.12-slim
FROM ${BASE} AS build
ARG EXTRAS=[logs,prove]
COPY pyproject.toml README.md LICENSE ARCHITECTURE.md CHANGELOG.md /src/
COPY hacheck /src/hacheck
COPY spec /src/spec
COPY examples /src/examples
COPY docs /src/docs
RUN python -m venv /opt/hacheck && /opt/hacheck/bin/pip install --no-cache-dir "/src${EXTRAS}"

FROM ${BASE}
RUN useradd --create-home --uid 1000 hacheck
COPY --from=build /opt/hacheck /opt/hacheck
ENV PATH=/opt/hacheck/bin:$PATH
USER hacheck
WORKDIR /work
ENTRYPOINT ["hacheck"]
CMD ["--help"]
