# The program itself, for compose.yaml: `selfeng serve`, and `chroma run` of the same version. By hand, from the project's folder:
#   docker build -t selfeng -f docker/app.dockerfile .
# A builder that does not know app.dockerfile.dockerignore takes the files of a commit: git archive HEAD | docker build ... -
ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE}

COPY requirements.txt /src/
RUN pip install --no-cache-dir --root-user-action=ignore --require-hashes -r /src/requirements.txt

COPY . /src
RUN pip install --no-cache-dir --root-user-action=ignore --no-build-isolation "/src[postgres]"

ENV SELFENG_HOME=/data
VOLUME /data
EXPOSE 5000
CMD ["selfeng", "serve"]
