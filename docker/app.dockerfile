# The program itself, for compose.yaml and by hand, from the project's folder or an unpacked source distribution:
#   docker build -t selfeng -f docker/app.dockerfile .
# A builder that does not know app.dockerfile.dockerignore takes the files of a commit: git archive HEAD | docker build ... -
# Any base with Python 3.11 or later and util-linux will do. RUN uses nothing but sh, python and pip, so that a minimal base works too.
ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE} AS build

# npm trusts the certificates that pip trusts.
ENV NODE_USE_SYSTEM_CA=1
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM ${BASE_IMAGE}

COPY requirements.txt /src/
RUN pip install --no-cache-dir --root-user-action=ignore --require-hashes -r /src/requirements.txt
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --root-user-action=ignore --no-deps --no-index /wheels/*.whl

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
