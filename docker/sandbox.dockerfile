# The image in which generated code is verified and run. `SecureSandbox().build_image()` builds it; by hand, from the
# project's folder:  docker build -t self-eng-sandbox -f docker/sandbox.dockerfile .
# Any base with Python 3.11 or later will do. RUN uses nothing but sh, python and pip, so that a minimal base works too.
# Behind a proxy or a company's certificate authority, see docs/usage.md; pip trusts what a docker/certificates.pem has.
ARG BASE_IMAGE=python:3.12-slim
FROM ${BASE_IMAGE}

# Slim images come without compiled modules, and at run time nothing can be written: compile once, import fast.
RUN python -m compileall -q -x "/(test|tests|idlelib|lib2to3|site-packages)/" \
        "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
    && python -c "import pathlib, sysconfig; pathlib.Path(sysconfig.get_path('purelib'), 'sandbox.pth').write_text('/opt/sandbox\n')"

ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
ARG PIP_TRUSTED_HOST
COPY docker/requirements.txt docker/certificates.pe[m] /opt/sandbox/
RUN if [ -f /opt/sandbox/certificates.pem ]; then export PIP_CERT=/opt/sandbox/certificates.pem; fi \
    && pip install --no-cache-dir --no-compile --root-user-action=ignore --require-hashes -r /opt/sandbox/requirements.txt \
    && python -c "import pathlib; pathlib.Path('/opt/sandbox/certificates.pem').unlink(missing_ok=True)" \
    && python -m compileall -q -j 0 -x "/tests/" "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

# matplotlib looks for fonts when it is first imported: looked for once, here.
RUN MPLCONFIGDIR=/opt/matplotlib MPLBACKEND=Agg python -c "import matplotlib.pyplot"

# Older versions of runc give a tmpfs the mode of the folder below it, whatever its options say, hence the last step.
COPY src/sandbox_worker src/readcells.py /opt/sandbox/sandbox_worker/
RUN python -m compileall -q /opt/sandbox \
    && python -c "import os; os.chmod('/tmp', 0o700); os.chown('/tmp', 65534, 65534)"

USER 65534:65534
WORKDIR /tmp
ENTRYPOINT ["python", "-I", "-m", "sandbox_worker"]
