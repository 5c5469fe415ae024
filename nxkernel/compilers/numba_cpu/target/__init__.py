"""The processor that code is made for, and how it holds each type of element."""
