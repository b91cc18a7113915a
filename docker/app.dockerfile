# The program itself, for compose.yaml and by hand, from the project's folder or an unpacked source distribution:
#   docker build -t selfeng -f docker/app.dockerfile .
# Behind a proxy or a company's certificate authority, see docs/usage.md; pip and npm trust what a docker/certificates.pem has.
# A builder that does not know app.dockerfile.dockerignore takes the files of a commit: git archive HEAD | docker build ... -
# Any base with Python 3.11 or later and util-linux will do. RUN uses nothing but sh, python and pip, so that a minimal base works too.
ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE} AS build

# Of this stage only: an index's address may have a password, and images keep their arguments.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_TRUSTED_HOST
ARG NPM_CONFIG_REGISTRY
COPY . /src
RUN if [ -f /src/docker/certificates.pem ]; then \
      python -c "import os; os.rename('/src/docker/certificates.pem', '/certificates.pem')" && export PIP_CERT=/certificates.pem; \
    fi \
    && pip install --no-cache-dir --root-user-action=ignore --root /built --require-hashes -r /src/requirements.txt \
    && pip install --no-cache-dir --root-user-action=ignore --root /built --no-deps --require-hashes -r /src/requirements-chroma.txt \
    && pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src \
    && pip install --no-cache-dir --root-user-action=ignore --root /built --no-deps --no-index /wheels/*.whl

FROM ${BASE_IMAGE}

COPY --from=build /built/ /

# Everything that is written is in /data: what set-up makes below /data/parts, which several containers may share.
ENV SELFENG_HOME=/data PARTS_DIR=/data/parts
RUN echo "selfeng:x:1000:1000::/data:/bin/sh" >> /etc/passwd \
    && python -c "import os; [(os.mkdir(p, 0o700), os.chown(p, 1000, 1000)) for p in ('/data', '/data/parts')]"
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 5000
HEALTHCHECK --interval=10s --start-period=60s CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"FLASK_PORT\") or 5000}/healthz', timeout=20)"]
CMD ["selfeng", "serve"]
